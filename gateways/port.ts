/**
 * A request id names one movement. Within `idempotencyWindow`, a repetition under it moves nothing and returns the
 * first outcome; `find` knows it for ever. A call that throws says nothing of the money: the outcome is queried.
 * Only a `NotSentError` guarantees that no money has moved. No call is made while a transaction is open or a row is
 * locked. A request id has at most 150 characters of `A-Z a-z 0-9 _ @ ~ - . /`; an adapter with a lower limit sends
 * a digest, the same for the same id.
 */

import type { DeclineClass } from '../billing/dunning.ts'

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
  readonly gatewayName: string
  /** References of the card at other accounts, in the order in which they are tried after a soft decline. */
  readonly backups?: readonly string[]
}

/** A card that the provider's own form stored. */
export interface AdoptedCard extends StoredCard {
  readonly last4: string
  readonly brand: CardBrand
  readonly expMonth: number
  readonly expYear: number
  /** Equal for equal cards of the provider's account. */
  readonly fingerprint: string
}

export type CardExpiry = Pick<GatewayCard, 'expMonth' | 'expYear'>

/** For the one who entered the card. */
export interface CardRefusal {
  readonly refusal: string
}

interface MovementOfMoney {
  readonly organizationId: string
  readonly requestId: string
  /** A decimal string in units of the currency. */
  readonly amount: string
  readonly currency: string
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
  readonly chargeId: string | null
}

/** A capture or void: of a capture, `amount` is what is taken. */
export interface OfAuthorization extends MovementOfMoney {
  readonly authorizationRequestId: string
  readonly authorizationId: string | null
}

export type Movement =
  | { readonly kind: 'charge'; readonly charge: Charge }
  | { readonly kind: 'authorize'; readonly charge: Charge }
  | { readonly kind: 'refund'; readonly refund: Refund }
  | { readonly kind: 'capture'; readonly capture: OfAuthorization }
  | { readonly kind: 'void'; readonly release: OfAuthorization }

/** Returns what every movement has. */
export function requestOf(movement: Movement): Charge | Refund | OfAuthorization {
  switch (movement.kind) {
    case 'charge':
    case 'authorize':
      return movement.charge
    case 'refund':
      return movement.refund
    case 'capture':
      return movement.capture
    case 'void':
      return movement.release
  }
}

export interface GatewayResult {
  readonly result: 'approved' | 'declined' | 'unknown'
  /** Holds no card data. */
  readonly raw: string
  readonly id?: string | null
  readonly decline?: DeclineClass | null
  /** True of a charge that is declined because it ended while it waited for its customer; `decline` is null then. */
  readonly isAbandoned?: boolean
  /** Where the present customer approves a charge, which is `unknown` until then; null: it waits for nobody. */
  readonly approvalUrl?: string | null
  /** When an approved authorization ends by itself, in milliseconds; null: the gateway does not say. */
  readonly expiryTime?: number | null
  /** Who has taken or declined it, where several could. */
  readonly heldBy?: { readonly reference: string; readonly gatewayName: string }
}

export interface StoreOptions {
  readonly currency?: string | null
  /** True: the card is charged once, with the customer present, and not prepared for later charges. */
  readonly isForPresentCustomer?: boolean
}

export interface Gateway {
  readonly name: string
  /** Milliseconds in which a repeated request id moves nothing; at least an hour. Then only `find` is called. */
  readonly idempotencyWindow: number
  /** False: the organization's instruments come only from the provider's own form. */
  takesCards(organizationId: string): Promise<boolean>
  /** Stores a card. Idempotent for a `requestId`. @throws GatewayFailedError if it has no result. */
  store(
    organizationId: string,
    card: GatewayCard,
    requestId: string,
    options?: StoreOptions,
  ): Promise<StoredCard | CardRefusal>
  /** Idempotent. @throws GatewayFailedError if it has no result. */
  adopt(organizationId: string, paymentMethod: string): Promise<AdoptedCard | CardRefusal>
  /**
   * Tells the new expiry of a stored card; null: it is taken. `not-used`: nothing is charged there now, whether it was taken or
   * not. Idempotent. @throws GatewayFailedError if it has no result.
   */
  renew(
    organizationId: string,
    reference: string,
    expiry: CardExpiry,
  ): Promise<CardRefusal | 'not-used' | null>
  /**
   * What the bank wants approved is `unknown` if the customer is present, else declined as `needs-action`. A gateway that
   * has waited for one response asks `isStillWanted` before it sends the charge elsewhere, or again.
   * @throws NotSentError if the gateway has certainly not carried it out.
   */
  charge(charge: Charge, isStillWanted?: () => Promise<boolean>): Promise<GatewayResult>
  /** As `charge`, but the money is only held, until it is captured or voided, or the authorization ends by itself. */
  authorize(charge: Charge, isStillWanted?: () => Promise<boolean>): Promise<GatewayResult>
  /** Takes what an authorization holds, once; the rest of it is released. @throws NotSentError as `charge`. */
  capture(capture: OfAuthorization): Promise<GatewayResult>
  /** Releases what an authorization holds. @throws NotSentError as `charge`. */
  void(release: OfAuthorization): Promise<GatewayResult>
  /** Ends a charge that waits: `isAbandoned`, or what it is if the customer was faster; null: never received. */
  abandon(charge: Charge, since: number): Promise<GatewayResult | null>
  /** @throws NotSentError as `charge`. */
  refund(refund: Refund): Promise<GatewayResult>
  /** Returns the outcome, however old; null: never received. `since`: when the request id was made, in ms. */
  find(movement: Movement, since: number): Promise<GatewayResult | null>
  close(): Promise<void>
}

/** These may wait for the gateway or for a second connection, and so must not run in a transaction. */
export const GATEWAY_CALLS = [
  'takesCards',
  'store',
  'adopt',
  'renew',
  'charge',
  'authorize',
  'capture',
  'void',
  'abandon',
  'refund',
  'find',
] as const satisfies readonly (keyof Gateway)[]

/** Certainly not carried out: not one byte has left, or the gateway turned it away. It can be sent again. */
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

/** Not the provider's, or too old. The message says why. */
export class NotificationRefusedError extends Error {
  override readonly name = 'NotificationRefusedError'
}

/** The message says why, and contains no secret. */
export class CredentialsRefusedError extends Error {
  override readonly name = 'CredentialsRefusedError'
}
