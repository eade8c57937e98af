import type { Logger } from 'pino'
import type { Credential } from './authentication.ts'

/** What the middleware knows of a request when its operation runs. */
export interface ApiState {
  requestId: string
  operationId?: string
  credential?: Credential
  log: Logger
  params?: Record<string, string>
  /** The sent body, once it is read. */
  given?: unknown
  /** The resource in the response. */
  responded?: unknown
}
