/** The last step of a payment (decisions 6.5): what the gateway answered, where nothing was recorded before. */
import type { EntityManager } from '@mikro-orm/postgresql'
import { CHARGE_TIMEOUT, nextInquiry } from '../../billing/charge-schedule.ts'
import type { Movement } from '../../gateways/movement.ts'
import type { GatewayAnswer } from '../../gateways/port.ts'
import { Customer, Transaction } from '../entities/index.ts'
import { lockRow } from '../lock-row.ts'
import { orderInstant } from '../order-record.ts'
import { transactionEvent } from '../transaction-events.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { type Bill, declineBills, lockBills, payBills, refundBills, suspendBills } from './pay-invoices.ts'

/** A pending transaction as the gateway is asked about it; null for one that is not pending, or not there. */
export async function pendingMovement(
  em: EntityManager,
  organizationId: string,
  id: string,
): Promise<{ readonly transaction: Transaction; readonly movement: Movement } | null> {
  const transaction = await em.findOne(Transaction, { organizationId, id }, { refresh: true })
  if (transaction?.status !== 'pending' || transaction.requestId == null) return null
  const { requestId, amount, currency } = transaction
  const shared = { organizationId, requestId, amount, currency }
  if (transaction.type === 'sale') {
    const reference = transaction.gatewayReference ?? ''
    return { transaction, movement: { kind: 'charge', charge: { ...shared, reference } } }
  }
  const parent = await em.findOneOrFail(Transaction, {
    organizationId,
    id: transaction.parentTransactionId ?? '',
  })
  const chargeRequestId = parent.requestId ?? ''
  return { transaction, movement: { kind: 'refund', refund: { ...shared, chargeRequestId } } }
}

/** When a transaction counts as asked for: on the clock of the order that charges, else on the real one. */
export function chargedAt({ chargedTime, createdTime }: Transaction): number {
  return (chargedTime ?? createdTime).getTime()
}

/**
 * Records an answer on a transaction that is still pending, with what it means for the invoices it is about, and emits
 * `transaction-processed` or `transaction-declined`. `unknown` leaves it pending, to be asked about by its workflow; after a
 * day of that `transaction-timeout-resolved` is emitted, once, and a later answer still counts. `instant` is the clock of
 * who asked, in milliseconds: inquiries go by it, the events by the clock of the first invoice's order.
 *
 * @returns when to ask next; null: never.
 */
export async function recordAnswer(
  unit: UnitOfWork,
  id: string,
  { result, raw }: GatewayAnswer,
  instant: number,
): Promise<number | null> {
  const { em, organizationId } = unit
  const asked = await em.findOne(Transaction, { organizationId, id }, { refresh: true })
  if (asked?.status !== 'pending') return null
  // A first answer counts as given when the charge was made.
  const at = asked.subscriptionId != null && asked.result == null ? chargedAt(asked) : instant
  const sale = asked.type === 'refund' ? await saleOf(unit, asked) : asked
  const bills = await lockBills(unit, sale.invoiceIds, (row) =>
    asked.subscriptionId == null ? orderInstant(unit, row) : at,
  )
  if (asked.type === 'refund') await lockRow(unit, Transaction, sale.id)
  const transaction = await lockRow(unit, Transaction, id)
  if (transaction?.status !== 'pending') return null
  const time = new Date(bills[0]?.instant ?? at)
  const charged = chargedAt(transaction)
  const next = result === 'unknown' ? nextInquiry(charged, instant) : null
  const wasUnknown = transaction.result === 'unknown'
  const timesOut =
    result === 'unknown' && transaction.timeoutTime == null && instant >= charged + CHARGE_TIMEOUT
  const isOwn = transaction.subscriptionId != null
  const isMoved = next !== (transaction.nextInquiryTime?.getTime() ?? null)
  transaction.nextInquiryTime = next === null ? null : new Date(next)
  if (isOwn && result === 'unknown' && (!wasUnknown || !timesOut)) {
    await suspendBills(unit, transaction, bills, { timesOut: false, askTime: next })
  }
  if (wasUnknown && result === 'unknown' && !timesOut) {
    if (isMoved) raise(transaction, unit)
    return next
  }

  transaction.result = result
  transaction.rawResponse = raw
  if (result !== 'unknown') transaction.status = 'completed'
  if (timesOut) transaction.timeoutTime = new Date(at)
  raise(transaction, unit)
  const websiteId = await websiteOf(unit, transaction, bills)
  const emit = (type: Parameters<typeof transactionEvent>[1]) =>
    unit.emit(transactionEvent(transaction, type, unit, time, websiteId))
  if (timesOut) emit('transaction-timeout-resolved')
  if (result === 'approved') emit('transaction-processed')
  if (result === 'declined') emit('transaction-declined')
  if (timesOut && isOwn) await suspendBills(unit, transaction, bills, { timesOut, askTime: next })
  if (result === 'unknown' && !wasUnknown && !isOwn && next !== null) {
    unit.follow('transaction', id, {
      dueBy: new Date(next),
      attributes: { status: 'unknown', customerId: transaction.customerId },
    })
  }
  if (transaction.type === 'refund') {
    if (result === 'approved') await refundBills(unit, transaction, bills)
  } else if (result === 'approved') await payBills(unit, transaction, bills)
  else if (result === 'declined') await declineBills(unit, transaction, bills)
  return next
}

/** Counts a change of what a transaction shows. */
function raise(transaction: Transaction, { now }: UnitOfWork): void {
  transaction.revision += 1
  transaction.updatedTime = now
}

/** The website that events of a transaction belong to: of the invoices it is about, else of its customer. */
async function websiteOf(
  { em, organizationId }: UnitOfWork,
  { customerId }: Transaction,
  [bill]: readonly Bill[],
): Promise<string | null> {
  if (bill !== undefined) return bill.row.websiteId
  return (await em.findOne(Customer, { organizationId, id: customerId }))?.websiteId ?? null
}

async function saleOf({ em, organizationId }: UnitOfWork, refund: Transaction): Promise<Transaction> {
  return await em.findOneOrFail(Transaction, { organizationId, id: refund.parentTransactionId ?? '' })
}
