import type { DeclineClass } from '../../billing/dunning.ts'
import { isZero, Money } from '../../billing/money.ts'
import type { Transition } from '../../billing/order.ts'
import {
  cancelCharge,
  declineCharge,
  disputeInvoice,
  leaveChargeUnknown,
  receivePayment,
  refundInvoice,
  timeOutCharge,
} from '../../billing/order-payments.ts'
import { ownValue } from '../../billing/own-value.ts'
import { raiseRevision } from '../../db/change-row.ts'
import { Dispute, Invoice, type Subscription, type Transaction } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import {
  advanceOwnInvoice,
  applyOwnTransitions,
  loadOwnInvoice,
  type OwnInvoiceRecord,
  scheduleOwnInvoice,
} from '../invoices/own-invoice-record.ts'
import { advanceBeforeRefunds, lockSubscription, scheduleAfter, wakeOrder } from '../orders/advance-order.ts'
import { applyTransitions } from '../orders/apply-transitions.ts'
import { lockCreditOfAll, renewCredit } from '../orders/credit.ts'
import type { Loading } from '../orders/load-order.ts'
import type { OrderRecord } from '../orders/order-record.ts'
import { countOwed, refundOwed, refundUndelivered } from './refund-sales.ts'

export interface LockedInvoice {
  readonly id: string
  readonly row: Invoice
  readonly record: OrderRecord | OwnInvoiceRecord
  readonly sequence: number
  /** The instant of the action: on its order's clock, or real time. */
  readonly instant: number
}

/** The invoices that exist, and the rows that protect them, locked. */
export interface LockedOwners {
  readonly invoiceIds: readonly string[]
  readonly found: readonly Invoice[]
  readonly orders: readonly Subscription[]
  readonly own: readonly Invoice[]
}

/**
 * Returns the existing invoices in the given order. Locks their orders by id, then own invoices by id, before
 * any transaction's row, and advances these to the instant.
 */
export async function lockInvoices(
  unit: UnitOfWork,
  invoiceIds: readonly string[],
  instantOf: (row: Subscription) => number,
  loading: Pick<Loading, 'changedRows'> = {},
): Promise<LockedInvoice[]> {
  return await advanceLocked(unit, await lockOwners(unit, invoiceIds), instantOf, loading)
}

/** The first half of `lockInvoices`, for a command that holds a customer: it comes before the credit memos of the second half. */
export async function lockOwners(unit: UnitOfWork, invoiceIds: readonly string[]): Promise<LockedOwners> {
  if (invoiceIds.length === 0) return { invoiceIds, found: [], orders: [], own: [] }
  const { em, organizationId } = unit
  const found = await em.find(Invoice, { organizationId, id: { $in: [...invoiceIds] } })
  const orders: Subscription[] = []
  const orderIds = found.flatMap(({ subscriptionId }) => subscriptionId ?? [])
  for (const subscriptionId of [...new Set(orderIds)].sort()) {
    const order = await lockSubscription(unit, subscriptionId)
    if (order !== null) orders.push(order)
  }
  const own: Invoice[] = []
  for (const { id } of found.filter((one) => one.subscriptionId == null).sort(byId)) {
    const row = await lockRow(unit, Invoice, id)
    if (row !== null) own.push(row)
  }
  return { invoiceIds, found, orders, own }
}

/** The second half of `lockInvoices`. */
export async function advanceLocked(
  unit: UnitOfWork,
  { invoiceIds, found, orders, own }: LockedOwners,
  instantOf: (row: Subscription) => number,
  loading: Pick<Loading, 'changedRows'> = {},
): Promise<LockedInvoice[]> {
  const invoices = new Map<string, LockedInvoice>()
  const records: LockedInvoice['record'][] = []
  if (orders.length + own.length > 1) await lockCreditOfAll(unit, orders, own)
  for (const order of orders) {
    const instant = instantOf(order)
    const record = await advanceBeforeRefunds(unit, order, instant, { ...loading, invoiceIds })
    records.push(record)
    for (const row of found.filter((invoice) => invoice.subscriptionId === order.id)) {
      invoices.set(row.id, { id: row.id, row, record, sequence: row.sequence, instant })
    }
  }
  for (const row of own) {
    const instant = unit.now.getTime()
    const record = await loadOwnInvoice(unit, row, instant, loading)
    advanceOwnInvoice(unit, record, instant - 1)
    records.push(record)
    invoices.set(row.id, { id: row.id, row, record, sequence: row.sequence, instant })
  }
  await refundUndelivered(unit, records)
  return invoiceIds.flatMap((id) => invoices.get(id) ?? [])
}

/**
 * Adds the invoices that a sale, locked now, was applied to after `invoices` were locked for it. All are read again: an
 * order has one record, whichever of its invoices are locked.
 */
export async function withApplied(
  unit: UnitOfWork,
  sale: Transaction,
  invoices: readonly LockedInvoice[],
  instantOf: (row: Subscription) => number,
): Promise<readonly LockedInvoice[]> {
  const missing = sale.invoiceIds.filter((id) => !invoices.some((one) => one.id === id))
  if (missing.length === 0) return invoices
  // What the first reading has advanced would be read back without it.
  await unit.em.flush()
  const changedRows = new Set(invoices.flatMap(({ record }) => [...record.changedRows]))
  return await lockInvoices(unit, [...invoices.map(({ id }) => id), ...missing], instantOf, { changedRows })
}

/**
 * Applies one transition to each locked invoice, in their order, writes what follows, begins the refunds that are owed by
 * then, and reschedules and wakes their orders. An order whose own workflow made `transaction` is not woken.
 */
export async function applyToInvoices(
  unit: UnitOfWork,
  invoices: readonly LockedInvoice[],
  transaction: Transaction | null,
  next: (invoice: LockedInvoice) => Transition,
): Promise<void> {
  for (const invoice of invoices) {
    const { record } = invoice
    renewCredit(record)
    if ('isOwn' in record) applyOwnTransitions(unit, record, [next(invoice)], transaction)
    else applyTransitions(unit, record, [next(invoice)], transaction)
  }
  await refundUndelivered(unit, [...new Set(invoices.map(({ record }) => record))])
  for (const { record, instant } of new Map(invoices.map((invoice) => [invoice.record, invoice])).values()) {
    if ('isOwn' in record) {
      scheduleOwnInvoice(unit, record)
      continue
    }
    scheduleAfter(record, instant)
    // The workflow of an automatic charge asked for this result and continues with it.
    if (transaction?.subscriptionId !== record.row.id) wakeOrder(unit, record.row)
  }
}

/** Applies an approved sale to its invoices, in their order; the remainder is refunded. */
export async function payInvoices(
  unit: UnitOfWork,
  transaction: Transaction,
  invoices: readonly LockedInvoice[],
): Promise<void> {
  if (transaction.invoiceIds.length === 0) return
  let left = new Money(transaction.amount)
  const payments = new Map<string, string>()
  const instrumentId = instrumentOf(transaction)
  await applyToInvoices(unit, invoices, transaction, ({ id, record, sequence, instant }) => {
    const { transition, used } = receivePayment(record.order, instant, sequence, left.toFixed(), instrumentId)
    if (!isZero(used)) payments.set(id, used)
    left = left.minus(used)
    return transition
  })
  transaction.payments = Object.fromEntries(payments)
  // A transaction outside of this service is created approved, so no dispute can precede it.
  if (transaction.gateway != null) await disputePaid(unit, transaction, invoices)
  if (left.greaterThan(0)) await refundOwed(unit, transaction)
}

/**
 * Pays an open invoice with a part of a locked sale that no invoice uses. What is left stays the merchant's if the sale was
 * made without invoices; of one made for invoices it is still owed.
 */
export async function payFromRest(
  unit: UnitOfWork,
  sale: Transaction,
  invoice: LockedInvoice,
  amount: string,
): Promise<void> {
  const { id, row } = invoice
  await applyToInvoices(
    unit,
    [invoice],
    null,
    ({ record, sequence, instant }) => receivePayment(record.order, instant, sequence, amount).transition,
  )
  const known = ownValue(sale.payments, id) ?? '0'
  sale.payments = { ...sale.payments, [id]: new Money(known).plus(amount).toFixed() }
  if (sale.invoiceIds.length === 0) sale.keepsRest = true
  sale.invoiceIds = [...new Set([...sale.invoiceIds, id])]
  if (row.subscriptionId != null)
    sale.subscriptionIds = [...new Set([...sale.subscriptionIds, row.subscriptionId])]
  await countOwed(unit, sale)
  raiseRevision(sale, unit)
  await disputePaid(unit, sale, [invoice])
}

async function disputePaid(
  unit: UnitOfWork,
  sale: Transaction,
  invoices: readonly LockedInvoice[],
): Promise<void> {
  if (!(await isDisputed(unit, sale))) return
  const paid = invoices.filter(({ id }) => ownValue(sale.payments, id) !== undefined)
  await disputeInvoices(unit, paid, () => true)
}

/** Records that a charge moved no money; `reason` null: unknown. */
export async function declineInvoices(
  unit: UnitOfWork,
  transaction: Transaction,
  invoices: readonly LockedInvoice[],
  reason: DeclineClass | null,
): Promise<void> {
  const declined = { class: reason, instrumentId: instrumentOf(transaction) }
  await applyToInvoices(unit, invoices, transaction, ({ record, sequence, instant }) =>
    declineCharge(record.order, instant, sequence, declined),
  )
}

function instrumentOf({ paymentInstruction }: Transaction): string | null {
  return 'paymentInstrumentId' in paymentInstruction ? paymentInstruction.paymentInstrumentId : null
}

/** Records that the gateway never received a charge, and never will. */
export async function cancelCharges(
  unit: UnitOfWork,
  transaction: Transaction,
  invoices: readonly LockedInvoice[],
): Promise<void> {
  await applyToInvoices(unit, invoices, transaction, ({ record, sequence, instant }) =>
    cancelCharge(record.order, instant, sequence),
  )
}

/** Records that the outcome of an automatic charge is unknown, or has been for a day. */
export async function suspendInvoices(
  unit: UnitOfWork,
  transaction: Transaction,
  invoices: readonly LockedInvoice[],
  { timesOut, askTime }: { readonly timesOut: boolean; readonly askTime: number | null },
): Promise<void> {
  await applyToInvoices(unit, invoices, transaction, ({ record, sequence, instant }) =>
    timesOut
      ? timeOutCharge(record.order, instant, sequence, askTime, instrumentOf(transaction))
      : leaveChargeUnknown(record.order, instant, sequence, askTime),
  )
}

export async function refundInvoices(
  unit: UnitOfWork,
  { shares, creditMemoId }: Transaction,
  invoices: readonly LockedInvoice[],
): Promise<void> {
  const touched = invoices.filter(({ id }) => ownValue(shares, id) !== undefined)
  await applyToInvoices(unit, touched, null, ({ id, record, sequence, instant }) =>
    refundInvoice(record.order, instant, sequence, ownValue(shares, id) ?? '0', creditMemoId != null),
  )
}

export async function disputeInvoices(
  unit: UnitOfWork,
  invoices: readonly LockedInvoice[],
  isDisputed: (invoiceId: string) => boolean,
): Promise<void> {
  const changed = invoices.filter(({ id, row }) => row.isDisputed !== isDisputed(id))
  await applyToInvoices(unit, changed, null, ({ id, record, sequence, instant }) =>
    disputeInvoice(record.order, instant, sequence, isDisputed(id)),
  )
}

/** Includes a dispute from before the outcome was known. */
async function isDisputed({ em, organizationId }: UnitOfWork, { id }: Transaction): Promise<boolean> {
  return (await em.count(Dispute, { organizationId, transactionId: id, status: { $ne: 'won' } })) > 0
}

function byId({ id: one }: Invoice, { id: other }: Invoice): number {
  return one < other ? -1 : 1
}
