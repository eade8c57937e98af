import type { Logger } from 'pino'
import type { Attempt, AttemptDependencies } from '../delivery/attempt.ts'
import type { RetryPlaces } from '../delivery/retry-places.ts'
import type { Gateway } from '../gateways/port.ts'
import type { OrderAdvancer } from './advance-order.ts'
import type { Advancing } from './advancing.ts'

export interface ActivityDependencies extends Advancing {
  readonly attempts: AttemptDependencies
  /** Called with each attempt whose outcome is recorded. */
  readonly onAttempt?: (attempt: Attempt) => void
  readonly places: RetryPlaces
  readonly gateway: Gateway
  readonly log: Logger
  /** Counts payments whose outcome is no longer queried. */
  readonly unresolved: { inc(): void }
  /** Counts refunds that are owed and whose every attempt was declined. */
  readonly unpaidRefunds: { inc(): void }
  readonly orders: OrderAdvancer
  /** Asked at each call: false while the namespace accepts no search attributes, whose writes would fail the task. */
  readonly isVisible: () => boolean
}
