import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import type { AttemptDependencies } from '../delivery/attempt.ts'
import type { Gateway } from '../gateways/port.ts'

/** What activities work with; made once per worker process. */
export interface ActivityDependencies {
  /** A fresh entity manager for each activity. */
  readonly em: () => EntityManager
  readonly attempts: AttemptDependencies
  readonly gateway: Gateway
  readonly log: Logger
  /** Counts payments whose outcome is asked for no more. */
  readonly unresolved: { inc(): void }
  readonly baseUrl: string
  /** Real time, in milliseconds. */
  readonly now: () => number
  /** Has due orders settled many at once, where that can be done; resolves when it is. */
  readonly settledTogether: () => Promise<void>
  /** Whether the namespace has the search attributes. */
  readonly labels: boolean
}
