import type { Logger } from 'pino'
import type { Credential } from './authentication.ts'

export interface ApiState {
  requestId: string
  operationId?: string
  credential?: Credential
  /** `WWW-Authenticate` of a response that is 401. */
  challenge?: string
  log: Logger
  params?: Record<string, string>
  given?: unknown
  responded?: unknown
}
