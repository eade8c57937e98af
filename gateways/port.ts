/**
 * The gateway port: what the service asks of whoever moves the money.
 *
 * A request id names one movement for good: asked again under the same id, a gateway moves nothing a second time and says
 * what became of the first. That a call throws says nothing about the money: the answer is unknown, and is asked for.
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

export interface GatewayAnswer {
  readonly result: 'approved' | 'declined' | 'unknown'
  /** What the gateway said, in its own words; holds no card data. */
  readonly raw: string
}

export interface Gateway {
  /** As transactions show it. */
  readonly name: string
  /** Keeps a card with the gateway and gives the reference that charges it. Keeping it twice does no harm. */
  store(organizationId: string, card: GatewayCard): Promise<string>
  charge(charge: Charge): Promise<GatewayAnswer>
  refund(refund: Refund): Promise<GatewayAnswer>
  /** What became of a request; null where the gateway never got it. */
  find(organizationId: string, requestId: string): Promise<GatewayAnswer | null>
  close(): Promise<void>
}

/** The deployment has no gateway to ask. */
export class NoGatewayError extends Error {
  override readonly name = 'NoGatewayError'
}

/** The gateway failed where only its answer lets us go on: it kept no card. */
export class GatewayFailedError extends Error {
  override readonly name = 'GatewayFailedError'
}
