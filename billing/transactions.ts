import { isZero, Money } from './money.ts'

/** Every type of the interface; this release makes those of `SUPPORTED_TRANSACTION_TYPES`. */
export const TRANSACTION_TYPES = [
  '3ds-authentication',
  'authorize',
  'capture',
  'credit',
  'refund',
  'sale',
  'setup',
  'void',
] as const
export const SUPPORTED_TRANSACTION_TYPES = ['sale', 'refund', 'authorize', 'capture', 'void'] as const

/** True for what takes money from a customer: the capture of an authorization is to invoices what a sale is. */
export function takesMoney(type: string): boolean {
  return type === 'sale' || type === 'capture'
}

export const TRANSACTION_RESULTS = ['abandoned', 'approved', 'canceled', 'declined', 'unknown'] as const

/** Every status of the interface; transactions of this release have those of `TransactionStatus`. */
export const TRANSACTION_STATUSES = [
  'completed',
  'conn-error',
  'disputed',
  'never-sent',
  'offsite',
  'partially-refunded',
  'pending',
  'refunded',
  'sending',
  'timeout',
  'voided',
  'waiting-approval',
  'waiting-capture',
  'waiting-gateway',
  'waiting-refund',
] as const

/**
 * `pending` until the outcome is known; `never-sent` if the gateway never received the request; `waiting-capture` and
 * `voided` of an approved authorization.
 */
export type TransactionStatus =
  | 'pending'
  | 'completed'
  | 'never-sent'
  | 'refunded'
  | 'partially-refunded'
  | 'waiting-capture'
  | 'voided'

/** How many invoices a sale or capture pays at most. */
export const MOST_INVOICES = 100

/** How long a present customer has to approve a charge, in milliseconds. */
export const APPROVAL_WINDOW = 3_600_000

export function approvalIsOverdue(charged: number, instant: number): boolean {
  return instant >= charged + APPROVAL_WINDOW
}

/** `refunded` is what approved refunds have returned. */
export function statusOf(
  result: 'approved' | 'declined' | 'canceled' | 'abandoned',
  amount: string,
  refunded: string,
): TransactionStatus {
  if (result === 'canceled') return 'never-sent'
  if (isZero(refunded)) return 'completed'
  return new Money(refunded).greaterThanOrEqualTo(amount) ? 'refunded' : 'partially-refunded'
}
