/**
 * The gateway port: what the service requires of the system that moves money.
 *
 * A request id names one movement. Within the gateway's `idempotencyWindow`, a repetition under the same id moves
 * nothing and returns the first outcome; `find` knows an id for ever. A call that throws says nothing about the money,
 * so the outcome is queried; only a `NotSentError` guarantees that no money has moved. No call is made while a
 * transaction is open or a row is locked (`GATEWAY_CALLS`).
 *
 * A request id has at most 150 characters of `A-Z a-z 0-9 _ @ ~ - . /`. An adapter to a gateway with a lower limit
 * sends a digest, the same for the same id.
 */

import type { DeclineClass } from '../billing/dunning.ts'

/** Why a movement was declined, in the one list that dunning knows. */
export { DECLINE_CLASSES, type DeclineClass } from '../billing/dunning.ts'

import type { CardBrand } from '../billing/cards.ts'

export interface GatewayCard {
  readonly pan: string
  readonly cvv: string | null
  readonly expMonth: number
  readonly expYear: number
  readonly brand?: string
}

export interface StoredCard {
  /** Charges the card; says nothing of it. */
  readonly reference: string
  /** Who keeps it, as responses name it. */
  readonly gatewayName: string
}

/** What is known of a card that the provider's own form stored. */
export interface AdoptedCard extends StoredCard {
  readonly last4: string
  readonly brand: CardBrand
  readonly expMonth: number
  readonly expYear: number
  /** Equal for equal cards of the provider's account. */
  readonly fingerprint: string
}

/** Why the gateway does not keep a card, for the one who entered it. */
export interface CardRefusal {
  readonly refusal: string
}

interface MovementOfMoney {
  readonly organizationId: string
  readonly requestId: string
  /** A decimal string in units of the currency. */
  readonly amount: string
  readonly currency: string
  /** What `store` or `adopt` returned for the instrument that is charged, or that was. */
  readonly reference: string
}

export interface Charge extends MovementOfMoney {
  /** The customer, who is there to approve the charge (3-D Secure); null: nobody is (off session). */
  readonly customer: PresentCustomer | null
}

export interface PresentCustomer {
  /** Where the bank's page sends the customer back to; null: to a page of this service. */
  readonly returnUrl: string | null
}

export interface Refund extends MovementOfMoney {
  readonly chargeRequestId: string
  /** The gateway's own id of the charge, if it is known. */
  readonly chargeId: string | null
}

export type Movement =
  | { readonly kind: 'charge'; readonly charge: Charge }
  | { readonly kind: 'refund'; readonly refund: Refund }

export interface GatewayResult {
  readonly result: 'approved' | 'declined' | 'unknown'
  /** The gateway's own text; holds no card data. */
  readonly raw: string
  /** The gateway's own id of the movement, if it has one. */
  readonly id?: string | null
  /** Why, if the movement was declined. */
  readonly decline?: DeclineClass | null
  /** Where the present customer approves a charge, which is `unknown` until then; null: it waits for nobody. */
  readonly approvalUrl?: string | null
}

/** What `store` may know of the charge that a card is stored for. */
export interface StoreOptions {
  /** That it is to be charged in; null: not known. */
  readonly currency?: string | null
  /** True if it is charged once, with the customer present, so that it need not be prepared for later charges. */
  readonly isForPresentCustomer?: boolean
}

export interface Gateway {
  readonly name: string
  /** Milliseconds for which a repeated request id moves nothing twice; at least an hour. Then only `find` is called. */
  readonly idempotencyWindow: number
  /** True if it stores card numbers for the organization; else its instruments come from the provider's own form. */
  takesCards(organizationId: string): Promise<boolean>
  /**
   * Stores a card with the gateway and returns the reference that charges it. Idempotent for a `requestId`.
   * @throws GatewayFailedError if it has no result.
   */
  store(
    organizationId: string,
    card: GatewayCard,
    requestId: string,
    options?: StoreOptions,
  ): Promise<StoredCard | CardRefusal>
  /**
   * Takes over a card that the provider's own form stored in the browser, by the provider's id of it. Idempotent.
   * @throws GatewayFailedError if it has no result.
   */
  adopt(organizationId: string, paymentMethod: string): Promise<AdoptedCard | CardRefusal>
  /**
   * Charges an instrument. What its bank wants approved is `unknown` with an `approvalUrl` if the customer is present,
   * and else declined as `needs-action`.
   * @throws NotSentError if the gateway has certainly not carried it out.
   */
  charge(charge: Charge): Promise<GatewayResult>
  /**
   * Ends a charge that waits for its customer, so that it can no longer be approved. Returns its outcome: declined, or
   * approved if the customer was faster; null if the gateway never received the charge.
   */
  abandon(charge: Charge, since: number): Promise<GatewayResult | null>
  /** @throws NotSentError as `charge`. */
  refund(refund: Refund): Promise<GatewayResult>
  /**
   * Returns the outcome of a movement, however old, or null if the gateway never received it. It moves nothing.
   * @param since when the movement got its request id: milliseconds of real time. The gateway has nothing of it before.
   */
  find(movement: Movement, since: number): Promise<GatewayResult | null>
  close(): Promise<void>
}

/** What may wait for the gateway, and so must not run in a transaction. */
export const GATEWAY_CALLS = [
  'store',
  'adopt',
  'charge',
  'abandon',
  'refund',
  'find',
] as const satisfies readonly (keyof Gateway)[]

/** A movement was certainly not carried out: not one byte has left, or the gateway turned it away. It can be sent again. */
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

/** What was sent in a provider's name is not the provider's, or too old. The message says why. */
export class NotificationRefusedError extends Error {
  override readonly name = 'NotificationRefusedError'
}

/** The provider does not take the credentials. The message says why, and contains no secret. */
export class CredentialsRefusedError extends Error {
  override readonly name = 'CredentialsRefusedError'
}
