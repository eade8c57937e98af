/** What providers tell of their own accord, in the words of the port. Nothing of it is personal. */
import type { DisputeStatus, DisputeType } from '../billing/disputes.ts'
import type { GatewayResult } from './port.ts'

/** A request that came in a provider's name. */
export interface SentNotification {
  readonly body: Buffer
  /** Value of a header, empty if it is missing. */
  readonly header: (name: string) => string
  /** When it came; milliseconds of real time. */
  readonly receivedTime: number
}

export interface GatewayNotification {
  /** The provider's id of it, the same when it is sent again. */
  readonly id: string
  /** What happened, in the provider's words. */
  readonly type: string
  /** When it happened, by the provider's clock. Milliseconds. */
  readonly occurredTime: number
  /** Orders what happened at the same instant. */
  readonly rank: number
  /** The provider's id of the charge, card or account that it is about. */
  readonly record: string
  /** The provider's id of the object that it shows: of two notifications of an object, the later one holds. */
  readonly object: string
  readonly content: NotificationContent
}

export type NotificationContent =
  | ChargeNotification
  | RefundNotification
  | DisputeNotification
  | CardNotification
  | { readonly kind: 'deauthorized' }
  /** Nothing that the service acts on. */
  | { readonly kind: 'other'; readonly reason: 'type' | 'not-ours' | 'unreadable' }

export interface ChargeNotification {
  readonly kind: 'charge'
  readonly requestId: string
  readonly outcome: GatewayResult
}

export interface RefundNotification {
  readonly kind: 'refund'
  readonly refundId: string
  /** The provider's id of the charge. */
  readonly chargeId: string
  /** Null if the service did not request the refund. */
  readonly requestId: string | null
  /** A decimal string. */
  readonly amount: string
  readonly currency: string
  readonly outcome: GatewayResult
}

/** Instants are milliseconds. */
export interface DisputeNotification {
  readonly kind: 'dispute'
  readonly disputeId: string
  readonly chargeId: string
  /** A decimal string. */
  readonly amount: string
  readonly currency: string
  readonly reasonCode: string
  readonly type: DisputeType
  readonly status: DisputeStatus
  readonly postedTime: number
  readonly deadlineTime: number | null
  readonly raw: string
}

/** A card that its bank renewed or replaced. */
export interface CardNotification {
  readonly kind: 'card'
  /** What `store` returned for the card. */
  readonly reference: string
  readonly last4: string
  readonly expMonth: number
  readonly expYear: number
}
