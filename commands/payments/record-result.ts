/** The last step of a payment (decisions 6.5): records the gateway's result, unless one is recorded already. */
import type { EntityManager } from '@mikro-orm/postgresql'
import { splitReference } from '../../billing/gateway-references.ts'
import { CHARGE_TIMEOUT, nextInquiry } from '../../billing/inquiry-schedule.ts'
import { isOpen } from '../../billing/invoices.ts'
import { approvalIsOverdue, statusOf, takesMoney } from '../../billing/transactions.ts'
import { raiseRevision } from '../../db/change-row.ts'
import { CreditMemo, Invoice, type Subscription, Transaction } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { refundedEntries, transactionEntries } from '../../events/timeline.ts'
import { transactionEvent } from '../../events/transaction-events.ts'
import type { MovementOutcome, PendingMovement } from '../../gateways/movement.ts'
import type { Movement } from '../../gateways/port.ts'
import { retakeRefund, returnRefund } from '../credit-memos/refund-credit-memo.ts'
import { orderInstant } from '../orders/order-instant.ts'
import {
  cancelCharges,
  declineInvoices,
  type LockedInvoice,
  lockInvoices,
  payInvoices,
  refundInvoices,
  suspendInvoices,
  withApplied,
} from './apply-payment.ts'
import { endAuthorization } from './capture-authorization.ts'
import { uncountCharge } from './gateway-routes.ts'
import { attributeForeignRefunds } from './record-foreign-refund.ts'
import { recordRefund } from './refund-sales.ts'
import { readScope } from './transaction-scope.ts'

/** Returns null when it is not pending. At `instant` a customer's time to approve may have ended; null: no end. */
export async function pendingMovement(
  em: EntityManager,
  organizationId: string,
  id: string,
  instant: number | null = null,
): Promise<{ readonly transaction: Transaction; readonly pending: PendingMovement } | null> {
  const transaction = await em.findOne(Transaction, { organizationId, id }, { refresh: true })
  if (transaction?.status !== 'pending' || transaction.requestId == null) return null
  const { invoiceIds, result } = transaction
  const pending = {
    movement: await movementOf(em, transaction, transaction.requestId),
    since: transaction.createdTime.getTime(),
    isUnknown: result === 'unknown',
    isRefused: isOfExpiredCard(transaction),
    isWanted: await areOpen(em, organizationId, invoiceIds),
    isStillWanted: () => areOpen(em, organizationId, invoiceIds),
    isOverdue: instant !== null && approvalIsOverdue(chargedAt(transaction), instant),
  }
  return { transaction, pending }
}

/** Only the charge of an expired card has a decline class before its result. */
function isOfExpiredCard({ result, declineClass }: Transaction): boolean {
  return result == null && declineClass != null
}

export async function movementOf(
  em: EntityManager,
  transaction: Transaction,
  requestId: string,
): Promise<Movement> {
  const { organizationId, amount, currency, gatewayReference } = transaction
  const shared = { organizationId, requestId, amount, currency, reference: gatewayReference ?? '' }
  const { type } = transaction
  if (type === 'sale' || type === 'authorize') {
    const isOffSession = transaction.subscriptionId != null || transaction.isMerchantInitiated
    const customer = isOffSession ? null : { returnUrl: transaction.redirectUrl ?? null }
    return { kind: type === 'sale' ? 'charge' : 'authorize', charge: { ...shared, customer } }
  }
  const parent = await em.findOneOrFail(Transaction, {
    organizationId,
    id: transaction.parentTransactionId ?? '',
  })
  if (type === 'capture' || type === 'void') {
    const request = {
      ...shared,
      authorizationRequestId: parent.requestId ?? '',
      authorizationId: parent.gatewayTransactionId ?? null,
    }
    return type === 'capture' ? { kind: type, capture: request } : { kind: type, release: request }
  }
  const refund = {
    ...shared,
    reference: parent.gatewayReference ?? '',
    chargeRequestId: parent.requestId ?? '',
    chargeId: parent.gatewayTransactionId ?? null,
  }
  return { kind: 'refund', refund }
}

async function areOpen(
  em: EntityManager,
  organizationId: string,
  invoiceIds: readonly string[],
): Promise<boolean> {
  if (invoiceIds.length === 0) return true
  const found = await em.find(
    Invoice,
    { organizationId, id: { $in: [...invoiceIds] } },
    { fields: ['status'], disableIdentityMap: true },
  )
  return found.every(isOpen)
}

/** On the clock of the order that charges, else in real time. */
export function chargedAt({ chargedTime, createdTime }: Transaction): number {
  return (chargedTime ?? createdTime).getTime()
}

/**
 * Records an outcome of a pending transaction, emits its events, and applies it to the invoices. `unknown`
 * leaves it pending; after a day `transaction-timeout-resolved` is emitted once, and a later outcome still
 * counts. `instant` (milliseconds) is the caller's clock: inquiries follow it, events follow the first
 * invoice's order. Returns when to ask next; null: never.
 */
export async function recordResult(
  unit: UnitOfWork,
  id: string,
  { result, raw, id: gatewayId, decline, approvalUrl = null, expiryTime = null, heldBy }: MovementOutcome,
  instant: number,
): Promise<number | null> {
  const { em, organizationId } = unit
  const found = await em.findOne(Transaction, { organizationId, id }, { refresh: true })
  if (found === null || !accepts(found, result)) return null
  // The initial result counts as of the charge's instant.
  const at = found.subscriptionId != null && found.result == null ? chargedAt(found) : instant
  const sale = found.type === 'refund' ? await saleOf(unit, found) : found
  const instantOf = (row: Subscription) => (found.subscriptionId == null ? orderInstant(unit, row) : at)
  const locked = await lockInvoices(unit, sale.invoiceIds, instantOf)
  const memo = found.creditMemoId == null ? null : await lockRow(unit, CreditMemo, found.creditMemoId)
  const { parentTransactionId } = found
  const parent = parentTransactionId == null ? null : await lockRow(unit, Transaction, parentTransactionId)
  const refunded = found.type === 'refund' ? parent : null
  const authorization = found.type === 'refund' ? null : parent
  const transaction = await lockRow(unit, Transaction, id)
  if (transaction === null || !accepts(transaction, result)) return null
  const invoices = refunded === null ? locked : await withApplied(unit, refunded, locked, instantOf)
  const time = new Date(invoices[0]?.instant ?? at)
  const charged = chargedAt(transaction)
  const next = result === 'unknown' ? nextInquiry(charged, instant) : null
  const wasUnknown = transaction.result === 'unknown'
  const wasOver = transaction.status !== 'pending'
  const isRefused = isOfExpiredCard(transaction)
  const wasAsked = transaction.approvalUrl != null
  const isAsked = result === 'unknown' && approvalUrl !== null && !wasAsked
  const timesOut =
    result === 'unknown' && transaction.timeoutTime == null && instant >= charged + CHARGE_TIMEOUT
  const isOwn = transaction.subscriptionId != null
  const isMoved = next !== (transaction.nextInquiryTime?.getTime() ?? null)
  transaction.nextInquiryTime = next === null ? null : new Date(next)
  if (isOwn && result === 'unknown' && (!wasUnknown || !timesOut)) {
    await suspendInvoices(unit, transaction, invoices, { timesOut: false, askTime: next })
  }
  if (wasUnknown && result === 'unknown' && !timesOut && !isAsked) {
    if (isMoved) raiseRevision(transaction, unit)
    return next
  }

  transaction.result = result
  transaction.rawResponse = raw
  transaction.gatewayTransactionId = gatewayId ?? transaction.gatewayTransactionId ?? null
  transaction.declineClass = decline ?? null
  if (isAsked) transaction.approvalUrl = approvalUrl
  if (heldBy !== undefined && result !== 'unknown') {
    transaction.gatewayReference = heldBy.reference
    transaction.gateway = heldBy.gatewayName
  }
  if (result !== 'unknown') {
    transaction.status = statusOf(result, transaction.amount, '0')
    transaction.processedTime = unit.now
  }
  if (transaction.type === 'authorize' && result === 'approved') {
    transaction.status = 'waiting-capture'
    transaction.authorizationExpiryTime = expiryTime === null ? null : new Date(expiryTime)
  }
  if (timesOut) transaction.timeoutTime = new Date(at)
  raiseRevision(transaction, unit)
  const { websiteId } = await readScope(unit, invoices, transaction)
  const emit = (type: Parameters<typeof transactionEvent>[1]) =>
    unit.emit(transactionEvent(transaction, type, unit, time, websiteId))
  if (timesOut) emit('transaction-timeout-resolved')
  if (wasAsked && !wasOver && (result === 'approved' || result === 'declined'))
    emit('offsite-payment-completed')
  if (result === 'approved') emit('transaction-processed')
  else if (result !== 'unknown') emit('transaction-declined')
  const type = timesOut
    ? 'transaction-timeout-resolved'
    : isAsked
      ? 'transaction-waiting-approval'
      : ENTRIES[result]
  for (const entry of [
    ...transactionEntries(transaction, type, time),
    ...(refunded !== null && result === 'approved' ? refundedEntries(refunded, transaction, time) : []),
  ]) {
    unit.addTimelineEntry(entry)
  }
  if (timesOut && isOwn) await suspendInvoices(unit, transaction, invoices, { timesOut, askTime: next })
  if (result === 'unknown' && !wasUnknown && !isOwn && next !== null) {
    unit.startWorkflow('transaction', id, {
      dueBy: new Date(next),
      attributes: { status: 'unknown', customerId: transaction.customerId },
    })
  }
  if (authorization !== null && result === 'approved') {
    endAuthorization(unit, authorization, transaction.type === 'void' ? 'voided' : 'completed', time)
  }
  if (refunded !== null) {
    if (result === 'approved') await refundInvoices(unit, transaction, invoices)
    else if (result !== 'unknown') await attributeForeignRefunds(unit, refunded, invoices)
    if (result !== 'unknown') await recordRefund(unit, refunded, result === 'approved')
    if (memo !== null && result !== 'approved' && result !== 'unknown')
      await returnRefund(unit, memo, transaction)
    else if (memo !== null && wasOver) await retakeRefund(unit, memo, transaction)
  } else if (wasOver) await payInvoices(unit, transaction, invoices.filter(isUncharged))
  else if (result === 'approved') await payInvoices(unit, transaction, invoices)
  else if (result === 'declined' || result === 'abandoned') {
    // Retries with an expired card cost no request, and its new date may be entered.
    // A declined capture says nothing of the card.
    const isOfCard = !isRefused && authorization === null
    await declineInvoices(unit, transaction, invoices, isOfCard ? (decline ?? null) : null)
  } else if (result === 'canceled') await cancelCharges(unit, transaction, invoices)
  // Last, since other charges of its account wait for the row of the limit.
  if (result !== 'approved' && result !== 'unknown') await uncount(unit, transaction)
  return next
}

const ENTRIES = {
  approved: 'transaction-approved',
  declined: 'transaction-declined',
  canceled: 'transaction-canceled',
  abandoned: 'transaction-abandoned',
  unknown: 'transaction-waiting-gateway',
} as const

/**
 * True if an outcome changes what is recorded. Who says that money moved is believed, whatever was concluded before:
 * from the gateway's ignorance (`canceled`), or from a decline that was not the last word on a charge.
 */
export function accepts(
  { status, result, type }: Pick<Transaction, 'status' | 'result' | 'type'>,
  outcome: MovementOutcome['result'],
): boolean {
  if (status === 'pending') return true
  if (outcome !== 'approved' || result === 'approved') return false
  return result === 'canceled' || takesMoney(type) || type === 'authorize'
}

/** What is not charged does not count for the limit of the day. */
async function uncount({ em, organizationId }: UnitOfWork, transaction: Transaction): Promise<void> {
  const { type, requestId, amount, currency, gatewayReference } = transaction
  if ((type !== 'sale' && type !== 'authorize') || requestId == null) return
  if (gatewayReference == null || splitReference(gatewayReference) === null) return
  await uncountCharge(em, { organizationId, requestId, amount, currency })
}

function isUncharged({ record, sequence }: LockedInvoice): boolean {
  return record.order.invoices.find((one) => one.sequence === sequence)?.charge === null
}

async function saleOf({ em, organizationId }: UnitOfWork, refund: Transaction): Promise<Transaction> {
  return await em.findOneOrFail(Transaction, { organizationId, id: refund.parentTransactionId ?? '' })
}
