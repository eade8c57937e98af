import type { Logger } from 'pino'
import type { AttemptDependencies } from '../delivery/attempt.ts'
import type { Gateway } from '../gateways/port.ts'
import type { OrderAdvancer } from './advance-order.ts'
import type { Advancing } from './advancing.ts'

/** What activities work with; made once per worker process. */
export interface ActivityDependencies extends Advancing {
  readonly attempts: AttemptDependencies
  readonly gateway: Gateway
  readonly log: Logger
  /** Counts payments whose outcome is asked for no more. */
  readonly unresolved: { inc(): void }
  /** Counts refunds that the service owes and that were declined every time. */
  readonly unpaidRefunds: { inc(): void }
  readonly orders: OrderAdvancer
}
