import type { EntityManager } from '@mikro-orm/postgresql'
import type { DatabaseClock } from '../db/clock-agreement.ts'
import type { Quarantine } from './quarantine.ts'

export interface Advancing {
  readonly em: () => EntityManager
  readonly baseUrl: string
  /** Real time, in milliseconds. */
  readonly now: () => number
  readonly clock: Pick<DatabaseClock, 'requireAgreement'>
  readonly quarantine: Quarantine
  /** True if executions may skip time, so that their instants lead the database's clock. */
  readonly skipsTime: boolean
}
