/** What providers tell of their own accord, in the words of the port. Nothing of it is personal. */
import type { DisputeStatus, DisputeType } from '../billing/disputes.ts'
import type { GatewayResult } from './port.ts'

/** Not verified yet. */
export interface SentNotification {
  readonly body: Buffer
  readonly header: (name: string) => string
  /** Milliseconds of real time. */
  readonly receivedTime: number
}

export interface GatewayNotification {
  /** The provider's id of it, the same when it is sent again. */
  readonly id: string
  readonly type: string
  /** By the provider's clock. Milliseconds. */
  readonly occurredTime: number
  /** Orders what happened at the same instant. */
  readonly rank: number
  /** The provider's id of the charge or card. */
  readonly record: string
  /** The provider's id of the object: of two notifications of an object, the later one holds. */
  readonly object: string
  readonly content: NotificationContent
}

export type NotificationContent =
  | ChargeNotification
  | RefundNotification
  | DisputeNotification
  | CardNotification
  /** Nothing that the service acts on. */
  | { readonly kind: 'other'; readonly reason: 'type' | 'not-ours' | 'unreadable' }

export interface ChargeNotification {
  readonly kind: 'charge'
  readonly requestId: string
  readonly outcome: GatewayResult
  /** What was taken of the money by then, a decimal string; null: nothing. Rows of earlier releases do not say. */
  readonly captured?: string | null
}

export interface RefundNotification {
  readonly kind: 'refund'
  readonly refundId: string
  readonly chargeId: string
  /** Null if the service did not request the refund. */
  readonly requestId: string | null
  readonly amount: string
  readonly currency: string
  readonly outcome: GatewayResult
  /** By the provider's clock, in milliseconds; null: it does not say. Neither do rows of earlier releases. */
  readonly createdTime?: number | null
}

/** Amounts are decimal strings, instants milliseconds. */
export interface DisputeNotification {
  readonly kind: 'dispute'
  readonly disputeId: string
  readonly chargeId: string
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
