import type { EventType } from '../billing/event-types.ts'
import type { InvoiceStatus } from '../billing/invoices.ts'
import { plainAmount } from '../billing/money.ts'
import type { Cause } from '../billing/order.ts'
import { ownValue } from '../billing/own-value.ts'
import type { CouponRedemption, CreditMemo, Dispute, Transaction } from '../db/entities/index.ts'
import type { NewTimelineEntry } from '../db/outbox.ts'

/** Domain events with a name of their own in timelines; the others keep theirs. */
const TYPES: Readonly<Partial<Record<EventType, string>>> = {
  'subscription-created': 'order-created',
  'subscription-activated': 'order-activated',
  'subscription-canceled': 'order-canceled',
  'subscription-churned': 'order-churned',
  'subscription-renewed': 'order-renewed',
  'subscription-reactivated': 'order-reactivated',
  'subscription-items-changed': 'order-items-changed',
  'renewal-invoice-issued': 'invoice-issued',
  'renewal-invoice-payment-declined': 'invoice-renewal-payment-declined',
}

export interface AboutOrder {
  /** Its id is null for an own invoice. */
  readonly order: { readonly id: string | null; readonly customerId: string }
  readonly invoice?: { readonly id: string; readonly status: InvoiceStatus; readonly before: string | null }
  readonly pauseId?: string
}

export function orderEntry(
  event: EventType,
  { order, invoice, pauseId }: AboutOrder,
  occurredTime: Date,
  cause: Cause,
): NewTimelineEntry {
  const becameDisputed =
    event === 'invoice-modified' && invoice?.status === 'disputed' && invoice.before !== 'disputed'
  const type = becameDisputed ? 'invoice-disputed' : (TYPES[event] ?? event)
  return {
    records: { subscriptionId: order.id, customerId: order.customerId, invoiceId: invoice?.id ?? null },
    type,
    occurredTime,
    cause,
    message: messageOf(type, order.id ?? '', invoice?.id ?? null, pauseId ?? null),
  }
}

function messageOf(type: string, orderId: string, invoiceId: string | null, pauseId: string | null): string {
  const [subject = '', ...rest] = type.split('-')
  const said = rest.join(' ')
  if (subject === 'invoice' && invoiceId !== null) return `Invoice ${invoiceId}: ${said}.`
  const about = invoiceId ?? pauseId
  const name = subject === 'order' || subject === 'subscription' ? said : type.replaceAll('-', ' ')
  return about === null ? `Order ${orderId}: ${name}.` : `Order ${orderId}: ${name} (${about}).`
}

type TransactionEntry =
  | 'transaction-approved'
  | 'transaction-declined'
  | 'transaction-canceled'
  | 'transaction-abandoned'
  | 'transaction-waiting-approval'
  | 'transaction-waiting-gateway'
  | 'transaction-timeout-resolved'
  | 'transaction-refunded'
  | 'transaction-captured'
  | 'transaction-voided'

const SAID: Readonly<Record<TransactionEntry, string>> = {
  'transaction-approved': 'approved',
  'transaction-declined': 'declined',
  'transaction-canceled': 'canceled, because the gateway never received it',
  'transaction-abandoned': 'abandoned, because the customer did not approve it in time',
  'transaction-waiting-approval': 'the customer is asked to approve it',
  'transaction-waiting-gateway': 'the outcome is unknown, and the gateway is asked again',
  'transaction-timeout-resolved': 'the outcome has been unknown for a day',
  'transaction-refunded': 'refunded',
  'transaction-captured': 'captured',
  'transaction-voided': 'voided',
}

/** The entries are in the timelines of the transaction, its customer and each invoice it pays. */
const SUBJECTS: Readonly<Record<Transaction['type'], string>> = {
  sale: 'Sale',
  refund: 'Refund',
  authorize: 'Authorization',
  capture: 'Capture',
  void: 'Void',
}

export function transactionEntries(
  transaction: Pick<Transaction, 'id' | 'type' | 'customerId' | 'invoiceIds' | 'amount' | 'currency'>,
  type: TransactionEntry,
  occurredTime: Date,
  { cause = 'payment', amount = transaction.amount }: { cause?: Cause; amount?: string } = {},
): NewTimelineEntry[] {
  const { id, customerId, currency, invoiceIds } = transaction
  const subject = SUBJECTS[transaction.type]
  const message = `${subject} ${id} of ${plainAmount(amount)} ${currency}: ${SAID[type]}.`
  const entry = { type, occurredTime, cause, message }
  const [first, ...others] = invoiceIds
  return [
    { ...entry, records: { transactionId: id, customerId, invoiceId: first ?? null } },
    ...others.map((invoiceId) => ({ ...entry, records: { invoiceId } })),
  ]
}

/** Of an authorization, once a capture or void of it is approved. */
export function endedEntries(
  authorization: Parameters<typeof transactionEntries>[0] & Pick<Transaction, 'status'>,
  occurredTime: Date,
): NewTimelineEntry[] {
  const type = authorization.status === 'voided' ? 'transaction-voided' : 'transaction-captured'
  return transactionEntries(authorization, type, occurredTime)
}

export function refundedEntries(
  sale: Parameters<typeof transactionEntries>[0],
  { amount, shares }: Pick<Transaction, 'amount' | 'shares'>,
  occurredTime: Date,
): NewTimelineEntry[] {
  const invoiceIds = sale.invoiceIds.filter((id) => ownValue(shares, id) !== undefined)
  return transactionEntries({ ...sale, invoiceIds }, 'transaction-refunded', occurredTime, { amount })
}

export function creditEntry(
  type: 'credit-memo-created' | 'credit-memo-modified' | CreditApplied | 'credit-memo-voided',
  { id, customerId, totalAmount, unusedAmount, currency }: CreditMemo,
  {
    time,
    cause,
    invoiceId = null,
    subscriptionId = null,
  }: { time: Date; cause: Cause; invoiceId?: string | null; subscriptionId?: string | null },
): NewTimelineEntry {
  const said = {
    'credit-memo-created': 'created',
    'credit-memo-modified': invoiceId === null ? 'modified' : `released by invoice ${invoiceId}`,
    'credit-memo-applied': invoiceId === null ? 'refunded' : `applied to invoice ${invoiceId}`,
    'credit-memo-partially-applied': `partially applied to invoice ${invoiceId}`,
    'credit-memo-voided': 'voided',
  }[type]
  const message = `Credit memo ${id} of ${plainAmount(totalAmount)} ${currency}: ${said}, ${plainAmount(unusedAmount)} left.`
  const records = { creditMemoId: id, customerId, invoiceId, subscriptionId }
  return { records, type, occurredTime: time, cause, message }
}

type CreditApplied = 'credit-memo-applied' | 'credit-memo-partially-applied'

export function disputeEntry(
  { id, transactionId, customerId, status, amount, currency }: Dispute,
  isNew: boolean,
  occurredTime: Date,
  cause: Cause,
): NewTimelineEntry {
  const isDecided = status === 'won' || status === 'lost' || status === 'forfeited'
  const type = isNew ? 'transaction-disputed' : isDecided ? `dispute-${status}` : 'dispute-changed'
  return {
    records: { transactionId, customerId: customerId ?? null },
    type,
    occurredTime,
    cause,
    message: `Dispute ${id} of ${plainAmount(amount)} ${currency}: ${isNew ? 'created' : status}.`,
  }
}

export function couponEntry(
  type: 'coupon-redeemed' | 'coupon-redemption-canceled',
  { id, couponId, customerId, subscriptionId }: CouponRedemption,
  occurredTime: Date,
): NewTimelineEntry {
  const said = type === 'coupon-redeemed' ? 'redeemed' : 'redemption canceled'
  return {
    records: { customerId, subscriptionId: subscriptionId ?? null },
    type,
    occurredTime,
    cause: 'api',
    message: `Coupon ${couponId}: ${said} (${id}).`,
  }
}

export function discountEntry(
  type: 'coupon-applied' | 'coupon-application-removed',
  { couponId, order, invoiceId }: { couponId: string; order: AboutOrder['order']; invoiceId: string },
  occurredTime: Date,
  cause: Cause,
): NewTimelineEntry {
  const said = type === 'coupon-applied' ? 'applied' : 'removed'
  return {
    records: { subscriptionId: order.id, customerId: order.customerId, invoiceId },
    type,
    occurredTime,
    cause,
    message: `Invoice ${invoiceId}: coupon ${couponId} ${said}.`,
  }
}

export function customerEntry(
  customerId: string,
  type: string,
  message: string,
  occurredTime: Date,
): NewTimelineEntry {
  return { records: { customerId }, type, occurredTime, cause: 'api', message }
}

export function gatewayAccountEntry(
  gatewayAccountId: string,
  type: `gateway-account-${string}`,
  said: string,
  occurredTime: Date,
): NewTimelineEntry {
  const message = `Gateway account ${gatewayAccountId}: ${said}.`
  return { records: { gatewayAccountId }, type, occurredTime, cause: 'api', message }
}
