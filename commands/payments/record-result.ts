/** The last step of a payment (decisions 6.5): records the gateway's result, unless one is recorded already. */
import { splitReference } from '../../billing/gateway-references.ts'
import { CHARGE_TIMEOUT, nextInquiry } from '../../billing/inquiry-schedule.ts'
import { statusOf, takesMoney } from '../../billing/transactions.ts'
import { raiseRevision } from '../../db/change-row.ts'
import { CreditMemo, type Subscription, Transaction } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { refundedEntries, transactionEntries } from '../../events/timeline.ts'
import { transactionEvent } from '../../events/transaction-events.ts'
import type { MovementOutcome } from '../../gateways/movement.ts'
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
import { chargedAt, isOfExpiredCard } from './pending-movement.ts'
import { attributeForeignRefunds } from './record-foreign-refund.ts'
import { recordRefund } from './refund-sales.ts'
import { readScope } from './transaction-scope.ts'

/**
 * Records an outcome of a pending transaction, emits its events, and applies it to the invoices. `unknown`
 * leaves it pending; after a day `transaction-timeout-resolved` is emitted once, and a later outcome still
 * counts. `instant` (milliseconds) is the caller's clock: inquiries follow it, events follow the first
 * invoice's order. Returns when to ask next; null: never.
 */
export async function recordResult(
  unit: UnitOfWork,
  id: string,
  outcome: MovementOutcome,
  instant: number,
): Promise<number | null> {
  const { result } = outcome
  const locked = await lockForResult(unit, id, result, instant)
  if (locked === null) return null
  if (result === 'unknown') return await leavePending(unit, locked, outcome, instant)
  await conclude(unit, locked, { ...outcome, result })
  return null
}

interface KnownOutcome extends MovementOutcome {
  readonly result: Exclude<MovementOutcome['result'], 'unknown'>
}

/** What a result may change, locked. */
interface LockedTransaction {
  readonly transaction: Transaction
  /** Of a refund: those that its sale paid. */
  readonly invoices: readonly LockedInvoice[]
  /** The sale of a refund. */
  readonly refunded: Transaction | null
  /** The authorization of a capture or void. */
  readonly authorization: Transaction | null
  /** The credit memo that a refund pays back. */
  readonly memo: CreditMemo | null
  /** When the result counts, in milliseconds. */
  readonly at: number
  /** When its events occur. */
  readonly time: Date
}

/** Locks invoices, credit memo, parent and transaction, in this order. Null: the result is not accepted. */
async function lockForResult(
  unit: UnitOfWork,
  id: string,
  result: MovementOutcome['result'],
  instant: number,
): Promise<LockedTransaction | null> {
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
  return { transaction, invoices, refunded, authorization, memo, at, time }
}

/** Nobody knows the outcome yet. Returns when to ask next; null: never. */
async function leavePending(
  unit: UnitOfWork,
  { transaction, invoices, at, time }: LockedTransaction,
  outcome: MovementOutcome,
  instant: number,
): Promise<number | null> {
  const charged = chargedAt(transaction)
  const isFirst = transaction.result !== 'unknown'
  const next = nextInquiry(charged, instant, isFirst)
  const isMoved = next !== (transaction.nextInquiryTime?.getTime() ?? null)
  transaction.nextInquiryTime = next === null ? null : new Date(next)
  const timesOut = transaction.timeoutTime == null && instant >= charged + CHARGE_TIMEOUT
  const { approvalUrl = null } = outcome
  const isAsked = approvalUrl !== null && transaction.approvalUrl == null
  const isOwn = transaction.subscriptionId != null
  if (isOwn && (isFirst || !timesOut))
    await suspendInvoices(unit, transaction, invoices, { timesOut: false, askTime: next })
  if (!isFirst && !timesOut && !isAsked) {
    if (isMoved) raiseRevision(transaction, unit)
    return next
  }
  writeResult(transaction, outcome)
  if (isAsked) transaction.approvalUrl = approvalUrl
  if (timesOut) transaction.timeoutTime = new Date(at)
  raiseRevision(transaction, unit)
  if (timesOut) {
    const { websiteId } = await readScope(unit, invoices, transaction)
    unit.emit(transactionEvent(transaction, 'transaction-timeout-resolved', unit, time, websiteId))
  }
  const asked = isAsked ? 'transaction-waiting-approval' : 'transaction-waiting-gateway'
  const type = timesOut ? 'transaction-timeout-resolved' : asked
  for (const entry of transactionEntries(transaction, type, time)) unit.addTimelineEntry(entry)
  if (timesOut && isOwn) await suspendInvoices(unit, transaction, invoices, { timesOut, askTime: next })
  if (isFirst && !isOwn && next !== null) {
    unit.startWorkflow('transaction', transaction.id, {
      dueBy: new Date(next),
      attributes: { status: 'unknown', customerId: transaction.customerId },
    })
  }
  return next
}

/** Records the outcome that counts, and applies it. */
async function conclude(unit: UnitOfWork, locked: LockedTransaction, outcome: KnownOutcome): Promise<void> {
  const { transaction, refunded } = locked
  const wasOver = transaction.status !== 'pending'
  const isCompleted = transaction.approvalUrl != null && !wasOver
  const isRefused = isOfExpiredCard(transaction)
  transaction.nextInquiryTime = null
  writeResult(transaction, outcome)
  writeConclusion(unit, transaction, outcome)
  raiseRevision(transaction, unit)
  await emitResult(unit, locked, outcome.result, isCompleted)
  if (refunded === null) await applyResult(unit, locked, outcome, { wasOver, isRefused })
  else await applyRefund(unit, locked, refunded, outcome.result, wasOver)
  // Last, since other charges of its account wait for the row of the limit.
  if (outcome.result !== 'approved') await uncount(unit, transaction)
}

function writeResult(transaction: Transaction, { result, raw, id, decline }: MovementOutcome): void {
  transaction.result = result
  transaction.rawResponse = raw
  transaction.gatewayTransactionId = id ?? transaction.gatewayTransactionId ?? null
  transaction.declineClass = decline ?? null
}

/** Writes what ends with a known result. */
function writeConclusion(
  { now }: UnitOfWork,
  transaction: Transaction,
  { result, expiryTime = null, heldBy }: KnownOutcome,
): void {
  if (heldBy !== undefined) {
    transaction.gatewayReference = heldBy.reference
    transaction.gateway = heldBy.gatewayName
  }
  transaction.status = statusOf(result, transaction.amount, '0')
  transaction.processedTime = now
  if (transaction.type === 'authorize' && result === 'approved') {
    transaction.status = 'waiting-capture'
    transaction.authorizationExpiryTime = expiryTime === null ? null : new Date(expiryTime)
  }
}

/** `isCompleted`: the customer was asked to approve it, and has. */
async function emitResult(
  unit: UnitOfWork,
  { transaction, invoices, refunded, time }: LockedTransaction,
  result: KnownOutcome['result'],
  isCompleted: boolean,
): Promise<void> {
  const { websiteId } = await readScope(unit, invoices, transaction)
  const emit = (type: Parameters<typeof transactionEvent>[1]) =>
    unit.emit(transactionEvent(transaction, type, unit, time, websiteId))
  if (isCompleted && (result === 'approved' || result === 'declined')) emit('offsite-payment-completed')
  emit(result === 'approved' ? 'transaction-processed' : 'transaction-declined')
  for (const entry of transactionEntries(transaction, ENTRIES[result], time)) unit.addTimelineEntry(entry)
  if (refunded === null || result !== 'approved') return
  for (const entry of refundedEntries(refunded, transaction, time)) unit.addTimelineEntry(entry)
}

/** Applies a refund's result to the invoices that its sale paid, the sale and the credit memo. */
async function applyRefund(
  unit: UnitOfWork,
  { transaction, invoices, memo }: LockedTransaction,
  sale: Transaction,
  result: KnownOutcome['result'],
  wasOver: boolean,
): Promise<void> {
  const hasMoved = result === 'approved'
  if (hasMoved) await refundInvoices(unit, transaction, invoices)
  else await attributeForeignRefunds(unit, sale, invoices)
  await recordRefund(unit, sale, hasMoved)
  if (memo === null) return
  if (!hasMoved) await returnRefund(unit, memo, transaction)
  else if (wasOver) await retakeRefund(unit, memo, transaction)
}

/** Applies the result of a sale, authorization, capture or void to the invoices and to its authorization. */
async function applyResult(
  unit: UnitOfWork,
  { transaction, invoices, authorization, time }: LockedTransaction,
  { result, decline = null }: KnownOutcome,
  { wasOver, isRefused }: { readonly wasOver: boolean; readonly isRefused: boolean },
): Promise<void> {
  if (authorization !== null && result === 'approved')
    endAuthorization(unit, authorization, transaction.type === 'void' ? 'voided' : 'completed', time)
  // What was approved late leaves invoices that are charged anew to that charge.
  if (wasOver) return await payInvoices(unit, transaction, invoices.filter(isUncharged))
  switch (result) {
    case 'approved':
      return await payInvoices(unit, transaction, invoices)
    case 'canceled':
      return await cancelCharges(unit, transaction, invoices)
    case 'declined':
    case 'abandoned': {
      // Retries with an expired card cost no request, and its new date may be entered.
      // A declined capture says nothing of the card.
      const isOfCard = !isRefused && authorization === null
      return await declineInvoices(unit, transaction, invoices, isOfCard ? decline : null)
    }
  }
}

const ENTRIES = {
  approved: 'transaction-approved',
  declined: 'transaction-declined',
  canceled: 'transaction-canceled',
  abandoned: 'transaction-abandoned',
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
