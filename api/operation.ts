/** What an operation's handler is given and what it answers. */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import type { KeyStore } from '../commands/access/create-api-key.ts'
import type { UnitOfWork } from '../db/unit-of-work.ts'
import type { Attempt, DueDelivery } from '../delivery/attempt.ts'
import type { WebhookTargets } from '../delivery/webhook-url.ts'
import type { Gateway } from '../gateways/port.ts'
import type { Credential } from './http/authentication.ts'
import type { Preconditions } from './http/preconditions.ts'
import type { TemporalService } from './temporal.ts'

export interface OperationContext {
  readonly organizationId: string
  readonly credential: Credential
  /** Path parameters by name. */
  readonly params: Readonly<Record<string, string>>
  /** Query parameters, checked against the route's schema. */
  readonly query: Readonly<Record<string, unknown>>
  readonly preconditions: Preconditions
  /** An entity manager of this request alone. */
  readonly em: EntityManager
  readonly keys: KeyStore
  readonly webhookTargets: WebhookTargets
  /** Makes one attempt, signed as every attempt is, that no log keeps. */
  readonly sendWebhook: (delivery: DueDelivery) => Promise<Attempt>
  readonly gateway: Gateway
  /** null: this API is connected to no Temporal. */
  readonly temporal: TemporalService | null
  readonly baseUrl: string
  readonly now: () => Date
  /** What the request names itself by, for 24 hours at least. */
  readonly idempotencyKey: string | null
  readonly log: Logger
  /**
   * The body's writable members, checked and with defaults filled in. Asked for only once the resource is found and the
   * preconditions hold, which go before what is wrong with the body. What only answers hold is let through where it is
   * what `stored` holds already.
   *
   * @throws Problem `validation-error` naming every failing member.
   */
  body<T>(stored?: object): T
  /** Whether the body as sent has a top-level member: for the few where absent and null differ. */
  has(member: string): boolean
  /** Runs a command in one transaction and answers; under an `Idempotency-Key`, once. */
  commit(work: (unit: UnitOfWork) => Promise<OperationResponse>): Promise<OperationResponse>
}

export interface OperationResponse {
  /** Default: the route's. */
  readonly status?: number
  readonly body?: unknown
  /** Absolute URI of what was made. */
  readonly location?: string
  /** Revision of the resource in the body, for `ETag`. */
  readonly revision?: number
  readonly headers?: Readonly<Record<string, string>>
}

export type OperationHandler = (context: OperationContext) => Promise<OperationResponse>
