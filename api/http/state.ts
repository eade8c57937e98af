import type { Logger } from 'pino'
import type { Credential } from './authentication.ts'

export interface ApiState {
  requestId: string
  operationId?: string
  credential?: Credential
  log: Logger
  params?: Record<string, string>
  given?: unknown
  responded?: unknown
}
