/** Every event type that a webhook's filter may name. Types of resources to come are reserved. */
export const EVENT_TYPES = [
  'subscription-created',
  'subscription-activated',
  'subscription-canceled',
  'subscription-churned',
  'subscription-modified',
  'subscription-renewed',
  'subscription-reactivated',
  'subscription-trial-ended',
  'subscription-trial-converted',
  'subscription-renewal-reminder',
  'subscription-trial-end-reminder',
  'subscription-items-changed',
  'subscription-upgraded',
  'subscription-downgraded',
  'order-abandoned',
  'order-abandon-reminder',
  'order-completed',
  'order-voided',
  'order-delinquency-reached',
  'subscription-paused',
  'subscription-resumed',
  'subscription-pause-created',
  'subscription-pause-modified',
  'subscription-pause-revoked',
  'renewal-invoice-issued',
  'invoice-created',
  'invoice-issued',
  'invoice-modified',
  'invoice-paid',
  'invoice-partially-paid',
  'invoice-past-due',
  'invoice-reissued',
  'invoice-voided',
  'invoice-refunded',
  'invoice-partially-refunded',
  'invoice-abandoned',
  'invoice-past-due-reminder',
  'transaction-processed',
  'transaction-declined',
  'transaction-process-requested',
  'transaction-timeout-resolved',
  'gateway-account-requested',
  'offsite-payment-completed',
  'risk-score-changed',
  'renewal-invoice-payment-declined',
  'renewal-invoice-payment-canceled',
  'dispute-created',
  'dispute-modified',
  'customer-created',
  'customer-updated',
  'customer-merged',
  'lead-source-changed',
  'aml-list-possibly-matched',
  'payment-card-created',
  'payment-card-expired',
  'payment-card-expiration-reminder',
  'payment-instrument-modified',
  'coupon-issued',
  'coupon-modified',
  'coupon-expired',
  'coupon-applied',
  'coupon-application-removed',
  'coupon-redeemed',
  'coupon-redemption-canceled',
  'kyc-request-attempted',
  'kyc-request-partially-fulfilled',
  'kyc-request-fulfilled',
  'kyc-request-failed',
  'kyc-document-created',
  'kyc-document-accepted',
  'kyc-document-rejected',
  'kyc-document-modified',
  'kyc-document-archived',
  'kyc-document-reviewed',
  'data-export-completed',
  'data-export-failed',
  'credit-memo-created',
  'credit-memo-modified',
  'credit-memo-applied',
  'credit-memo-partially-applied',
  'credit-memo-voided',
  'quote-created',
  'quote-issued',
  'quote-accepted',
  'quote-rejected',
  'quote-canceled',
  'quote-recalled',
  'quote-expired',
  'quote-updated',
  'application-instance-enabled',
  'application-instance-disabled',
  'balance-transaction-settled',
  'webhook-disabled',
  'webhook-delivery-exhausted',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

/** A webhook's filter keeps names of other releases, which never match an event. */
export const EVENT_TYPE_PATTERN = '^[a-z0-9]+(-[a-z0-9]+)*$'

export interface EmittedEvent {
  readonly type: EventType
  readonly when: string
  /** At the top level of the payload. */
  readonly ids: readonly string[]
}

/** Ids of which the record is embedded with another one. */
const NOT_EMBEDDED: ReadonlySet<string> = new Set(['subscriptionPauseId', 'paymentCardId'])

/** Returns the names of the records in the payload of an event. Those of coupons have the coupon alone. */
export function embeddedIn({ type, ids }: EmittedEvent): string[] {
  const embedded = type.startsWith('coupon-') ? ids.slice(0, 1) : ids
  return embedded.filter((id) => !NOT_EMBEDDED.has(id)).map((id) => id.replace(/Id$/, ''))
}

/** In the order of `docs/events.md`. */
export const EMITTED_EVENTS: readonly EmittedEvent[] = [
  { type: 'subscription-created', when: 'An order was placed.', ids: ['subscriptionId'] },
  {
    type: 'subscription-activated',
    when: 'An order became active: its service began.',
    ids: ['subscriptionId'],
  },
  {
    type: 'subscription-renewed',
    when: 'An order passed a boundary: its next period began.',
    ids: ['subscriptionId'],
  },
  {
    type: 'subscription-renewal-reminder',
    when: 'The renewal of an order is ahead, as long as the organization wants to be reminded before it.',
    ids: ['subscriptionId'],
  },
  {
    type: 'subscription-trial-end-reminder',
    when: 'The end of the trial of an order is ahead.',
    ids: ['subscriptionId'],
  },
  {
    type: 'order-abandon-reminder',
    when: 'The abandonment of a pending order is ahead.',
    ids: ['subscriptionId'],
  },
  { type: 'subscription-trial-ended', when: 'The trial of an order ended.', ids: ['subscriptionId'] },
  {
    type: 'subscription-trial-converted',
    when: 'An order was paid for the first time after its trial.',
    ids: ['subscriptionId'],
  },
  { type: 'subscription-modified', when: 'A caller changed an order.', ids: ['subscriptionId'] },
  {
    type: 'subscription-items-changed',
    when: 'A caller changed the items or the shipping of an order in service.',
    ids: ['subscriptionId'],
  },
  {
    type: 'subscription-upgraded',
    when: 'A change of items raised the price of the recurring items, compared over the same time.',
    ids: ['subscriptionId'],
  },
  {
    type: 'subscription-downgraded',
    when: 'A change of items lowered the price of the recurring items, compared over the same time.',
    ids: ['subscriptionId'],
  },
  {
    type: 'subscription-canceled',
    when: 'An order was canceled, by a caller or for delinquency.',
    ids: ['subscriptionId'],
  },
  { type: 'subscription-churned', when: 'The service of a canceled order ended.', ids: ['subscriptionId'] },
  { type: 'subscription-reactivated', when: 'A canceled order was reactivated.', ids: ['subscriptionId'] },
  {
    type: 'subscription-pause-created',
    when: 'A pause was scheduled.',
    ids: ['subscriptionId', 'subscriptionPauseId'],
  },
  {
    type: 'subscription-pause-modified',
    when: 'A caller changed the times of a pause.',
    ids: ['subscriptionId', 'subscriptionPauseId'],
  },
  {
    type: 'subscription-pause-revoked',
    when: 'A scheduled pause was revoked.',
    ids: ['subscriptionId', 'subscriptionPauseId'],
  },
  { type: 'subscription-paused', when: 'A pause began.', ids: ['subscriptionId', 'subscriptionPauseId'] },
  {
    type: 'subscription-resumed',
    when: 'A pause ended, and service resumed.',
    ids: ['subscriptionId', 'subscriptionPauseId'],
  },
  { type: 'order-abandoned', when: 'A pending order was abandoned.', ids: ['subscriptionId'] },
  {
    type: 'order-completed',
    when: 'An order ended as agreed: its last period was served, or its one-time sale was paid.',
    ids: ['subscriptionId'],
  },
  {
    type: 'order-delinquency-reached',
    when: 'An unpaid invoice reached its delinquency time and canceled its order.',
    ids: ['subscriptionId'],
  },
  { type: 'order-voided', when: 'A pending order was voided.', ids: ['subscriptionId'] },
  {
    type: 'renewal-invoice-issued',
    when: 'The invoice of a renewal was issued.',
    ids: ['subscriptionId', 'invoiceId'],
  },
  { type: 'invoice-created', when: 'An invoice was drafted.', ids: ['invoiceId'] },
  { type: 'invoice-issued', when: 'An invoice was issued.', ids: ['invoiceId'] },
  {
    type: 'invoice-reissued',
    when: 'The initial invoice of a pending order was drawn up again, or a caller gave an invoice another due time.',
    ids: ['invoiceId'],
  },
  {
    type: 'invoice-modified',
    when: 'An invoice shows a change that has no other event, such as new due times, a charge retry or a dispute.',
    ids: ['invoiceId'],
  },
  { type: 'invoice-paid', when: 'An invoice was paid in full.', ids: ['invoiceId'] },
  { type: 'invoice-partially-paid', when: 'A part of an invoice was paid.', ids: ['invoiceId'] },
  { type: 'invoice-past-due', when: 'An unpaid invoice passed its due time.', ids: ['invoiceId'] },
  { type: 'invoice-voided', when: 'An invoice was voided.', ids: ['invoiceId'] },
  {
    type: 'invoice-abandoned',
    when: 'An unpaid invoice was abandoned, by a caller or with its order.',
    ids: ['invoiceId'],
  },
  { type: 'invoice-refunded', when: 'The payment of an invoice was refunded in full.', ids: ['invoiceId'] },
  {
    type: 'invoice-partially-refunded',
    when: 'A part of the payment of an invoice was refunded.',
    ids: ['invoiceId'],
  },
  {
    type: 'renewal-invoice-payment-declined',
    when: 'A charge of a renewal invoice was declined.',
    ids: ['transactionId', 'invoiceId'],
  },
  {
    type: 'renewal-invoice-payment-canceled',
    when: 'A charge of a renewal invoice never reached the gateway.',
    ids: ['transactionId', 'invoiceId'],
  },
  {
    type: 'credit-memo-created',
    when: 'A credit memo was created by a caller, or for the credit left when an order ended.',
    ids: ['creditMemoId'],
  },
  {
    type: 'credit-memo-modified',
    when: 'A caller changed a credit memo, an invoice that will not be delivered released it or took back a part of it, or a refund of it failed.',
    ids: ['creditMemoId'],
  },
  {
    type: 'credit-memo-applied',
    when: 'An invoice used the rest of a credit memo, or it was refunded.',
    ids: ['creditMemoId'],
  },
  {
    type: 'credit-memo-partially-applied',
    when: 'An invoice used a part of a credit memo.',
    ids: ['creditMemoId'],
  },
  {
    type: 'credit-memo-voided',
    when: 'A credit memo was voided by a caller, or with the unpaid invoice whose unused time it credits.',
    ids: ['creditMemoId'],
  },
  { type: 'transaction-processed', when: 'A sale or refund was approved.', ids: ['transactionId'] },
  {
    type: 'transaction-declined',
    when: 'A sale or refund was declined or canceled.',
    ids: ['transactionId'],
  },
  {
    type: 'offsite-payment-completed',
    when: 'A customer who was asked to approve a sale approved or refused it.',
    ids: ['transactionId'],
  },
  {
    type: 'transaction-timeout-resolved',
    when: 'The outcome of a transaction has been unknown for a day. An automatic charge counts as declined from then on; an outcome that becomes known later still counts.',
    ids: ['transactionId'],
  },
  { type: 'dispute-created', when: 'A dispute was created.', ids: ['disputeId', 'transactionId'] },
  {
    type: 'dispute-modified',
    when: 'A dispute changed, by a caller, by the payment provider or by its deadline.',
    ids: ['disputeId', 'transactionId'],
  },
  { type: 'customer-created', when: 'A customer was created.', ids: ['customerId'] },
  {
    type: 'customer-updated',
    when: 'A caller changed a customer. Renaming or deleting a tag emits no event for its customers.',
    ids: ['customerId'],
  },
  {
    type: 'customer-merged',
    when: 'Another customer, the `duplicateCustomerId` of the payload, was merged into a customer.',
    ids: ['customerId'],
  },
  { type: 'lead-source-changed', when: 'The lead source of a customer changed.', ids: ['customerId'] },
  {
    type: 'payment-instrument-modified',
    when: 'A payment instrument was changed or deactivated, or the bank renewed its card.',
    ids: ['paymentInstrumentId', 'paymentCardId'],
  },
  {
    type: 'payment-card-created',
    when: 'A payment instrument was created.',
    ids: ['paymentInstrumentId', 'paymentCardId'],
  },
  { type: 'coupon-issued', when: 'A coupon can be redeemed from now on.', ids: ['couponId'] },
  { type: 'coupon-modified', when: 'A caller changed a coupon.', ids: ['couponId'] },
  { type: 'coupon-expired', when: 'A coupon expired.', ids: ['couponId'] },
  {
    type: 'coupon-redeemed',
    when: 'A customer redeemed a coupon.',
    ids: ['couponId', 'redemptionId', 'customerId'],
  },
  {
    type: 'coupon-redemption-canceled',
    when: 'A redemption of a coupon was canceled.',
    ids: ['couponId', 'redemptionId', 'customerId'],
  },
  {
    type: 'coupon-applied',
    when: 'An invoice is discounted by a coupon.',
    ids: ['couponId', 'redemptionId', 'customerId'],
  },
  {
    type: 'coupon-application-removed',
    when: 'An invoice that was drawn up again is no longer discounted by a coupon.',
    ids: ['couponId', 'redemptionId', 'customerId'],
  },
  {
    type: 'payment-card-expiration-reminder',
    when: 'A payment card is about to expire: 30 days ahead, or when such a card is added.',
    ids: ['paymentInstrumentId', 'paymentCardId'],
  },
  {
    type: 'payment-card-expired',
    when: 'A payment card has expired: the month in which it was valid has ended, on our clock or on that of an order to be charged.',
    ids: ['paymentInstrumentId', 'paymentCardId'],
  },
  {
    type: 'webhook-disabled',
    when: 'A webhook was deactivated after too many failures (sandbox only).',
    ids: ['webhookId'],
  },
  {
    type: 'webhook-delivery-exhausted',
    when: 'The last scheduled attempt of a delivery failed. Not emitted for a delivery of this event itself.',
    ids: ['webhookId'],
  },
]
