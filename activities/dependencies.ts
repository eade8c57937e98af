import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import type { DatabaseClock } from '../db/clock.ts'
import type { AttemptDependencies } from '../delivery/attempt.ts'
import type { Gateway } from '../gateways/port.ts'
import type { OrderAdvancer } from './advance-order.ts'
import type { Quarantine } from './quarantine.ts'

/** What activities work with; made once per worker process. */
export interface ActivityDependencies {
  /** A fresh entity manager for each activity. */
  readonly em: () => EntityManager
  readonly attempts: AttemptDependencies
  readonly gateway: Gateway
  readonly log: Logger
  /** Counts payments whose outcome is asked for no more. */
  readonly unresolved: { inc(): void }
  /** Counts refunds that the service owes and that were declined every time. */
  readonly unpaidRefunds: { inc(): void }
  readonly baseUrl: string
  /** Real time, in milliseconds. */
  readonly now: () => number
  readonly clock: Pick<DatabaseClock, 'requireAgreement'>
  readonly orders: OrderAdvancer
  readonly quarantine: Quarantine
  /** Whether executions may skip time: then their instants lead the database's clock. */
  readonly skipsTime: boolean
  /** Whether the namespace has the search attributes. */
  readonly visibility: boolean
}
