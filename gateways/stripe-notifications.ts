/** Keeps only what the service acts on of Stripe's events: no name, no address, no evidence of a dispute. */
import Stripe from 'stripe'
import type { DisputeStatus, DisputeType } from '../billing/disputes.ts'
import { LATEST_INSTANT } from '../billing/instants.ts'
import { ofMinorUnits } from '../billing/money.ts'
import type { GatewayNotification, NotificationContent, SentNotification } from './notifications.ts'
import { NotificationRefusedError } from './port.ts'
import { resultOfIntent, resultOfRefund } from './stripe.ts'

/** Maximum age of a signature. Seconds. */
const TOLERANCE = 300

/** @throws NotificationRefusedError if Stripe did not sign it under the secret, or more than five minutes ago. */
export function readStripeNotification(
  organizationId: string,
  webhookSecret: string,
  { body, header, receivedTime }: SentNotification,
): GatewayNotification {
  const event = verified(body, header('Stripe-Signature'), webhookSecret, receivedTime)
  try {
    const { id, type, created } = membersOf(event)
    const named = { id: text(id), type: text(type, 100), occurredTime: instant(created) }
    return { ...named, ...(readObject(organizationId, named.type, event) ?? unused(named.id, 'unreadable')) }
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
    throw new NotificationRefusedError('The notification is not an event of Stripe.')
  }
}

function verified(body: Buffer, signature: string, secret: string, receivedTime: number): unknown {
  try {
    return Stripe.webhooks.constructEvent(body, signature, secret, TOLERANCE, undefined, receivedTime)
  } catch (error) {
    if (error instanceof Stripe.errors.StripeSignatureVerificationError) {
      const isStale = /outside the tolerance/.test(error.message)
      throw new NotificationRefusedError(
        isStale
          ? 'The Stripe-Signature header is older than five minutes.'
          : 'The Stripe-Signature header is missing, or does not match the body and the webhookSecret of the gateway account.',
      )
    }
    throw new NotificationRefusedError('The notification is not an event of Stripe.')
  }
}

type Read = Pick<GatewayNotification, 'rank' | 'record' | 'object' | 'content'>
type Members = Readonly<Record<string, unknown>>

function readObject(organizationId: string, type: string, event: unknown): Read | null {
  const read = READERS[type]
  const { id, data, account } = membersOf(event)
  // Told to a platform about another account, where this service makes no requests.
  if (account != null) return unused(text(id), 'not-ours')
  if (read === undefined) return unused(text(id), 'type')
  try {
    return read(membersOf(membersOf(data).object), organizationId)
  } catch (error) {
    if (error instanceof UnreadableError) return null
    throw error
  }
}

type Reader = (object: Members, organizationId: string) => Read

const READERS: Readonly<Record<string, Reader>> = {
  'payment_intent.amount_capturable_updated': readIntent,
  'payment_intent.succeeded': ranked(1, readIntent),
  'payment_intent.payment_failed': readIntent,
  'payment_intent.canceled': ranked(1, readIntent),
  'refund.created': ranked(0, readRefund),
  'refund.updated': ranked(1, readRefund),
  'charge.refund.updated': ranked(1, readRefund),
  'refund.failed': ranked(2, readRefund),
  'charge.dispute.created': ranked(0, readDispute),
  'charge.dispute.updated': ranked(1, readDispute),
  'charge.dispute.funds_withdrawn': ranked(1, readDispute),
  'charge.dispute.funds_reinstated': ranked(1, readDispute),
  'charge.dispute.closed': ranked(2, readDispute),
  'payment_method.automatically_updated': readCard,
}

function ranked(rank: number, read: Reader): Reader {
  return (object, organizationId) => ({ ...read(object, organizationId), rank })
}

function unused(id: string, reason: 'type' | 'not-ours' | 'unreadable'): Read {
  return { rank: 0, record: id, object: id, content: { kind: 'other', reason } }
}

function readIntent(object: Members, organizationId: string): Read {
  // A part of the request id of a capture that was made elsewhere.
  const id = text(object.id, 100)
  const charged = requestIdOf(object, organizationId)
  if (charged === null) return unused(id, 'not-ours')
  const { captureRequestId } = membersOf(object.metadata)
  const isCapture = text(object.status) === 'succeeded' && captureRequestId !== undefined
  const requestId = isCapture ? text(captureRequestId) : charged
  // Stripe expands nothing in events, so that no outcome says until when the money is held.
  const outcome = resultOfIntent(object as unknown as Stripe.PaymentIntent)
  const captured = capturedOf(object)
  return { rank: 0, record: id, object: id, content: { kind: 'charge', requestId, outcome, captured } }
}

function capturedOf({ status, amount_received: received, currency }: Members): string | null {
  if (status !== 'succeeded' || received == null || received === 0) return null
  return moneyOf({ amount: received, currency }).amount
}

function readRefund(object: Members, organizationId: string): Read {
  // A part of the request id.
  const refundId = text(object.id, 100)
  // A refund of a charge without an intent is of no charge that the service made.
  if (object.payment_intent == null) return unused(refundId, 'not-ours')
  const chargeId = idOf(object.payment_intent)
  const content: NotificationContent = {
    kind: 'refund',
    refundId,
    chargeId,
    requestId: requestIdOf(object, organizationId),
    ...moneyOf(object),
    outcome: resultOfRefund(object as unknown as Stripe.Refund),
    createdTime: object.created == null ? null : instant(object.created),
  }
  return { rank: 0, record: chargeId, object: refundId, content }
}

function readDispute(object: Members): Read {
  const disputeId = text(object.id, 50)
  if (object.payment_intent == null) return unused(disputeId, 'not-ours')
  const chargeId = idOf(object.payment_intent)
  const { card } = membersOf(object.payment_method_details ?? {})
  const { case_type: caseType, network_reason_code: networkCode } = membersOf(card ?? {})
  const textOrNull = (value: unknown) => (typeof value === 'string' && value !== '' ? text(value) : null)
  const { due_by: dueBy } = membersOf(object.evidence_details ?? {})
  const [reason, status] = [text(object.reason), text(object.status)]
  const content: NotificationContent = {
    kind: 'dispute',
    disputeId,
    chargeId,
    ...moneyOf(object),
    // The networks' code tells more, where there is one.
    reasonCode: textOrNull(networkCode) ?? reason,
    type: disputeTypeOf(reason, status, caseType),
    status: DISPUTE_STATUSES[status] ?? 'unknown',
    postedTime: instant(object.created),
    deadlineTime: dueBy == null ? null : instant(dueBy),
    raw: JSON.stringify({
      id: disputeId,
      amount: object.amount,
      currency: object.currency,
      charge: textOrNull(object.charge),
      payment_intent: chargeId,
      reason,
      network_reason_code: textOrNull(networkCode),
      case_type: textOrNull(caseType),
      status,
      created: object.created,
      due_by: dueBy ?? null,
    }),
  }
  return { rank: 0, record: chargeId, object: disputeId, content }
}

function readCard(object: Members): Read {
  const id = text(object.id)
  const { last4, exp_month: expMonth, exp_year: expYear } = membersOf(object.card)
  if (object.customer == null) return unused(id, 'not-ours')
  const content: NotificationContent = {
    kind: 'card',
    reference: `${idOf(object.customer)}/${id}`,
    last4: text(last4, 4),
    expMonth: integer(expMonth, 1, 12),
    expYear: integer(expYear, 2000, 2100),
  }
  return { rank: 0, record: id, object: id, content }
}

const DISPUTE_STATUSES: Readonly<Record<string, DisputeStatus>> = {
  needs_response: 'response-needed',
  warning_needs_response: 'response-needed',
  appeal_needs_response: 'response-needed',
  under_review: 'under-review',
  warning_under_review: 'under-review',
  appeal_under_review: 'under-review',
  // An inquiry that ended without a chargeback.
  warning_closed: 'won',
  // The merchant refunded the charge before there was a chargeback: its type says that it took nothing itself.
  prevented: 'forfeited',
  won: 'won',
  lost: 'lost',
}

/** The bank could not, or would not, take a direct debit. */
const BANK_RETURNS = [
  'bank_cannot_process',
  'check_returned',
  'customer_initiated',
  'debit_not_authorized',
  'incorrect_account_details',
  'insufficient_funds',
]

function disputeTypeOf(reason: string, status: string, caseType: unknown): DisputeType {
  if (BANK_RETURNS.includes(reason)) return 'bank-return'
  const isBefore = status.startsWith('warning_') || status === 'prevented' || caseType === 'inquiry'
  return isBefore ? 'information-request' : 'first-chargeback'
}

function requestIdOf({ metadata }: Members, organizationId: string): string | null {
  const { organizationId: owner, requestId } = membersOf(metadata ?? {})
  return owner === organizationId && requestId !== undefined ? text(requestId) : null
}

function moneyOf(object: Members): { readonly amount: string; readonly currency: string } {
  const currency = text(object.currency, 3).toUpperCase()
  const amount = ofMinorUnits(integer(object.amount, 1, Number.MAX_SAFE_INTEGER), currency)
  if (amount === null) throw new UnreadableError()
  return { amount, currency }
}

class UnreadableError extends Error {
  override readonly name = 'UnreadableError'
}

function membersOf(value: unknown): Members {
  if (typeof value !== 'object' || value === null) throw new UnreadableError()
  return value as Members
}

function idOf(value: unknown): string {
  return text(typeof value === 'object' && value !== null ? membersOf(value).id : value)
}

function text(value: unknown, longest = 255): string {
  const isStorable =
    typeof value === 'string' && value.length <= longest && value.isWellFormed() && !value.includes('\0')
  if (!isStorable || value === '') throw new UnreadableError()
  return value
}

function integer(value: unknown, least: number, most: number): number {
  if (!Number.isInteger(value) || Number(value) < least || Number(value) > most) throw new UnreadableError()
  return Number(value)
}

/** Stripe counts seconds. */
function instant(value: unknown): number {
  return integer(value, 0, Math.floor(LATEST_INSTANT / 1000)) * 1000
}
