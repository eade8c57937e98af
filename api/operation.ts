import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import type { PasswordHasher } from '../access/password-hash.ts'
import type { KeyStore } from '../commands/access/create-api-key.ts'
import type { RequestCards } from '../commands/payments/request-cards.ts'
import type { Config } from '../config/config.ts'
import type { UnitOfWork } from '../db/unit-of-work.ts'
import type { Attempt, DueDelivery } from '../delivery/attempt.ts'
import type { WebhookTargets } from '../delivery/webhook-url.ts'
import type { Gateways } from '../gateways/gateways.ts'
import type { SentNotification } from '../gateways/notifications.ts'
import type { Metrics } from '../ops/metrics.ts'
import type { Wallet } from '../wallets/port.ts'
import type { Credential } from './http/authentication.ts'
import type { Preconditions } from './http/preconditions.ts'
import type { Page } from './query/paging.ts'
import type { TemporalService } from './temporal.ts'

export interface OperationContext {
  readonly organizationId: string
  readonly credential: Credential
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly preconditions: Preconditions
  readonly em: EntityManager
  readonly keys: KeyStore
  readonly passwords: PasswordHasher
  readonly address: string
  readonly webhookTargets: WebhookTargets
  readonly sendWebhook: (delivery: DueDelivery) => Promise<Attempt>
  readonly gateway: Gateways
  /** The cards of the payment tokens that commands of this request consume. */
  readonly cards: RequestCards
  readonly environment: Config['environment']
  readonly wallet: Wallet
  /** Null if this API has no Temporal. */
  readonly temporal: TemporalService | null
  readonly baseUrl: string
  readonly now: () => Date
  /** The response is stored under it for at least 24 hours. */
  readonly idempotencyKey: string | null
  readonly log: Logger
  /**
   * Returns the writable members, with defaults. Call it after the resource is found and the preconditions
   * hold: those problems come first. `stored` is what the body replaces: a read-only choice has to equal
   * it. Of a new resource a member that cannot be written (`AsShown`) has to be neutral; of one that is replaced it is passed
   * over, since it may be what was read before. Throws `validation-error`.
   */
  body<T>(stored?: object): T
  /**
   * As `body`, for `current` merged with the sent body (RFC 7396). `changed` names top-level members; the others are not
   * validated.
   */
  patchedBody<T>(current: object): { readonly body: T; readonly changed: readonly string[] }
  /** True if the caller has closed the connection, so that nobody receives the response. */
  isGone(): boolean
  /** True if the caller prefers the media type to JSON. */
  prefers(mediaType: string): boolean
  /** True if the sent body has the member: a few members distinguish missing from null. */
  has(member: string): boolean
  /**
   * Runs a command in one transaction, once per `Idempotency-Key`. A command that consumes a payment token is
   * undone, and runs again once the gateway has stored the card.
   */
  commit(work: (unit: UnitOfWork) => Promise<OperationResponse>): Promise<OperationResponse>
}

export interface OperationResponse {
  readonly status?: number
  /** Bytes are sent as they are, with the `Content-Type` in `headers`; anything else as JSON. */
  readonly body?: unknown
  readonly location?: string
  /** Revision of the resource in the body, for `ETag`. */
  readonly revision?: number
  readonly page?: Page
  readonly headers?: Readonly<Record<string, string>>
}

export type OperationHandler = (context: OperationContext) => Promise<OperationResponse>

/** For operations that a signature over the body authenticates. */
export interface SignedContext
  extends Pick<OperationContext, 'organizationId' | 'params' | 'em' | 'gateway' | 'log'> {
  /** Not verified yet. */
  readonly sent: SentNotification
  readonly notifications: Pick<Metrics['notifications'], 'inc'>
  commit<T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T>
}

/** The handler verifies the signature before anything else. */
export interface SignedHandler {
  readonly signed: (context: SignedContext) => Promise<OperationResponse>
}
