import type { EntityManager } from '@mikro-orm/postgresql'
import type { DatabaseClock } from '../db/clock-agreement.ts'
import type { Quarantine } from './quarantine.ts'

/** What advancing a record takes, whatever its kind. */
export interface Advancing {
  /** A fresh entity manager for each activity. */
  readonly em: () => EntityManager
  readonly baseUrl: string
  /** Real time, in milliseconds. */
  readonly now: () => number
  readonly clock: Pick<DatabaseClock, 'requireAgreement'>
  readonly quarantine: Quarantine
  /** Whether executions may skip time: then their instants lead the database's clock. */
  readonly skipsTime: boolean
  /** Whether the namespace has the search attributes. */
  readonly visibility: boolean
}
