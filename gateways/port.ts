/**
 * The gateway port: what the service asks of whoever moves the money.
 *
 * A request id names one movement: within the gateway's `idempotencyWindow`, asked again under the same id it moves nothing
 * a second time and says what became of the first. `find` knows an id for good. That a call throws says nothing about the
 * money, and the outcome is asked for; only a `NotSentError` says that no money can have moved.
 *
 * A request id is at most 150 characters of `A-Z a-z 0-9 _ @ ~ - . /`. An adapter to a gateway that takes less sends a digest
 * of it, the same for the same id.
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
  /** A decimal string. */
  readonly amount: string
  readonly currency: string
}

export interface Charge extends Movement {
  /** What `store` gave. */
  readonly reference: string
}

export interface Refund extends Movement {
  /** Request id of the charge that is given back. */
  readonly chargeRequestId: string
}

export interface GatewayResult {
  readonly result: 'approved' | 'declined' | 'unknown'
  /** What the gateway said, in its own words; holds no card data. */
  readonly raw: string
}

export interface Gateway {
  /** As transactions show it. */
  readonly name: string
  /** For how many milliseconds a repeated request id moves nothing twice; at least an hour. Later, only `find` is asked. */
  readonly idempotencyWindow: number
  /** Keeps a card with the gateway and gives the reference that charges it. Keeping it twice does no harm. */
  store(organizationId: string, card: GatewayCard): Promise<string>
  /** @throws NotSentError where the gateway has certainly not heard of it. */
  charge(charge: Charge): Promise<GatewayResult>
  /** @throws NotSentError as `charge`. */
  refund(refund: Refund): Promise<GatewayResult>
  /** What became of a request, however old; null where the gateway never got it. */
  find(organizationId: string, requestId: string): Promise<GatewayResult | null>
  close(): Promise<void>
}

/** A request was not sent: the gateway was not reached, and not one byte has left. It can be sent again at once. */
export class NotSentError extends Error {
  override readonly name: string = 'NotSentError'
}

/** The deployment has no gateway to ask. */
export class NoGatewayError extends NotSentError {
  override readonly name = 'NoGatewayError'
}

/** The gateway failed where only its answer lets us go on: it kept no card. */
export class GatewayFailedError extends Error {
  override readonly name = 'GatewayFailedError'
}
