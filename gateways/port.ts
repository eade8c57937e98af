/**
 * The gateway port: what the service requires of the system that moves money.
 *
 * A request id names one movement. Within the gateway's `idempotencyWindow`, a repetition under the same id moves
 * nothing and returns the first outcome; `find` knows an id for ever. A call that throws says nothing about the money,
 * so the outcome is queried; only a `NotSentError` guarantees that no money has moved.
 *
 * A request id has at most 150 characters of `A-Z a-z 0-9 _ @ ~ - . /`. An adapter to a gateway with a lower limit
 * sends a digest, the same for the same id.
 */

export interface GatewayCard {
  readonly pan: string
  readonly cvv: string | null
  readonly expMonth: number
  readonly expYear: number
}

interface Movement {
  readonly organizationId: string
  readonly requestId: string
  readonly amount: string
  readonly currency: string
}

export interface Charge extends Movement {
  readonly reference: string
}

export interface Refund extends Movement {
  readonly chargeRequestId: string
}

export interface GatewayResult {
  readonly result: 'approved' | 'declined' | 'unknown'
  /** The gateway's own text; holds no card data. */
  readonly raw: string
}

export interface Gateway {
  readonly name: string
  /** False if it stores no card numbers. */
  readonly takesCards: boolean
  /** Milliseconds for which a repeated request id moves nothing twice; at least an hour. Then only `find` is called. */
  readonly idempotencyWindow: number
  /** Stores a card with the gateway and returns the reference that charges it. Idempotent. */
  store(organizationId: string, card: GatewayCard): Promise<string>
  /** @throws NotSentError if the gateway has certainly not received it. */
  charge(charge: Charge): Promise<GatewayResult>
  /** @throws NotSentError as `charge`. */
  refund(refund: Refund): Promise<GatewayResult>
  /** Returns the outcome of a request, however old, or null if the gateway never received it. */
  find(organizationId: string, requestId: string): Promise<GatewayResult | null>
  close(): Promise<void>
}

/** A request was not sent: not one byte has left. It can be sent again at once. */
export class NotSentError extends Error {
  override readonly name: string = 'NotSentError'
}

export class NoGatewayError extends NotSentError {
  override readonly name = 'NoGatewayError'
}

/** The gateway failed and its result is required: it stored no card. */
export class GatewayFailedError extends Error {
  override readonly name = 'GatewayFailedError'
}
