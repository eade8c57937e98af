import { Money, sumOf } from '../../billing/money.ts'
import { ownValue } from '../../billing/own-value.ts'
import { OVERPAID, sharesOf, withOverpaid } from '../../billing/refund-shares.ts'
import { statusOf } from '../../billing/transactions.ts'
import { raiseRevision } from '../../db/change-row.ts'
import { CreditMemo, Transaction } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import { newId } from '../../db/new-id.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { refundedEntries, transactionEntries } from '../../events/timeline.ts'
import { transactionEvent } from '../../events/transaction-events.ts'
import type { GatewayResult } from '../../gateways/port.ts'
import { returnRefund } from '../credit-memos/refund-credit-memo.ts'
import { orderInstant } from '../orders/order-instant.ts'
import { type LockedInvoice, lockInvoices, refundInvoices, withApplied } from './apply-payment.ts'
import { owedOf, paidOf, recordRefund, refundsOf } from './refund-sales.ts'
import { refundOf } from './transaction-members.ts'
import { readScope } from './transaction-scope.ts'

/** Begins the request ids of what was made at the provider, and not by this service. */
export const FOREIGN = 'elsewhere/'

export interface ForeignRefund {
  /** Derived from the provider's id, so that the refund is recorded once. */
  readonly requestId: string
  readonly refundId: string
  /** A decimal string. */
  readonly amount: string
  readonly rawResponse: string
}

/**
 * Records a refund of an approved sale that was made at the provider, as a refund of ours that names no
 * invoice. What was refunded twice is recorded as it happened, and taken from an invoice once.
 */
export async function recordForeignRefund(
  unit: UnitOfWork,
  saleId: string,
  { requestId, refundId, amount, rawResponse }: ForeignRefund,
): Promise<void> {
  const { em, organizationId, now } = unit
  const before = await em.findOneOrFail(Transaction, { organizationId, id: saleId })
  const locked = await lockInvoices(unit, before.invoiceIds, (row) => orderInstant(unit, row))
  const sale = await lockRow(unit, Transaction, saleId)
  if (sale === null) return
  const invoices = await withApplied(unit, sale, locked, (row) => orderInstant(unit, row))
  const refund = unit.create(Transaction, {
    id: newId('txn'),
    ...refundOf(sale),
    amount,
    shares: sharesOf(paidOf(sale), await refundsOf(unit, sale.id), amount, owedOf(sale)),
    status: 'completed',
    result: 'approved',
    requestId,
    rawResponse,
    gatewayTransactionId: refundId,
    processedTime: now,
    nextInquiryTime: null,
  })
  const { revision } = sale
  sale.childTransactions = [...sale.childTransactions, refund.id]
  const { time, websiteId } = await readScope(unit, invoices, sale)
  unit.emit(transactionEvent(refund, 'transaction-processed', unit, time, websiteId))
  for (const entry of [
    ...transactionEntries(refund, 'transaction-approved', time),
    ...refundedEntries(sale, refund, time),
  ]) {
    unit.addTimelineEntry(entry)
  }
  await refundInvoices(unit, refund, invoices)
  await recordRefund(unit, sale, true)
  if (sale.revision === revision) raiseRevision(sale, unit)
}

/** False of refunds by the service of a capture that was made at the provider. */
function isForeign(requestId: string | null | undefined): boolean {
  return requestId?.startsWith(FOREIGN) === true && !requestId.includes('/', FOREIGN.length)
}

/**
 * A refund of a locked sale has returned nothing after all: what it would have returned of the invoices is taken from them by
 * refunds made at the provider, as far as they could name no invoice while it was counted.
 */
export async function attributeForeignRefunds(
  unit: UnitOfWork,
  sale: Transaction,
  invoices: readonly LockedInvoice[],
): Promise<void> {
  await unit.em.flush()
  const paid = paidOf(sale)
  let refunds = await refundsOf(unit, sale.id)
  for (const { id, requestId, amount, shares, result } of refunds) {
    if (result !== 'approved' || !isForeign(requestId)) continue
    const attributed = sumOf(Object.values(shares))
    const others = refunds.map((one) => (one.id === id ? { ...one, amount: attributed } : one))
    const rest = new Money(amount).minus(attributed).toFixed()
    const more = sharesOf(paid, others, rest, owedOf(sale))
    if (Object.keys(more).length === 0) continue
    const refund = await lockRow(unit, Transaction, id)
    if (refund === null) continue
    refund.shares = Object.fromEntries(
      [...new Set([...Object.keys(shares), ...Object.keys(more)])].map((invoiceId) => [
        invoiceId,
        sumOf([ownValue(shares, invoiceId) ?? '0', ownValue(more, invoiceId) ?? '0']),
      ]),
    )
    refunds = refunds.map((one) => (one.id === id ? { ...one, shares: refund.shares } : one))
    await refundInvoices(unit, { ...refund, shares: more }, invoices)
  }
}

/**
 * Records that an approved refund failed after all: the debt is refunded anew, and the credit memo that it paid back has its
 * amount again. Emits `transaction-declined`.
 */
export async function reverseRefund(
  unit: UnitOfWork,
  refundId: string,
  { raw, decline = null }: GatewayResult,
): Promise<void> {
  const { em, organizationId } = unit
  const found = await em.findOneOrFail(Transaction, { organizationId, id: refundId })
  const saleId = found.parentTransactionId ?? ''
  const before = await em.findOneOrFail(Transaction, { organizationId, id: saleId })
  const locked = await lockInvoices(unit, before.invoiceIds, (row) => orderInstant(unit, row))
  const memo = found.creditMemoId == null ? null : await lockRow(unit, CreditMemo, found.creditMemoId)
  const sale = await lockRow(unit, Transaction, saleId)
  const refund = await lockRow(unit, Transaction, refundId)
  if (sale === null || refund?.result !== 'approved') return
  const invoices = await withApplied(unit, sale, locked, (row) => orderInstant(unit, row))
  Object.assign(refund, {
    result: 'declined',
    status: statusOf('declined', refund.amount, '0'),
    rawResponse: raw,
    declineClass: decline,
  })
  raiseRevision(refund, unit)
  const { time, websiteId } = await readScope(unit, invoices, sale)
  unit.emit(transactionEvent(refund, 'transaction-declined', unit, time, websiteId))
  for (const entry of transactionEntries(refund, 'transaction-declined', time)) unit.addTimelineEntry(entry)
  const shares = Object.entries(refund.shares).map(([id, share]) => [
    id,
    new Money(share).negated().toFixed(),
  ])
  const paid = new Map(invoices.map((invoice) => [invoice.id, amountPaid(invoice)]))
  await refundInvoices(unit, { ...refund, shares: Object.fromEntries(shares) }, invoices)
  for (const invoice of invoices) {
    const surplus = new Money(paid.get(invoice.id) ?? 0).minus(amountPaid(invoice))
    if (surplus.isZero()) continue
    sale.payments = withOverpaid(sale.payments ?? {}, invoice.id, surplus.toFixed())
    sale.undelivered = [...new Set([...sale.undelivered, OVERPAID])]
  }
  if (memo !== null) await returnRefund(unit, memo, refund)
  await attributeForeignRefunds(unit, sale, invoices)
  const moved = (await refundsOf(unit, sale.id)).filter(({ result }) => result === 'approved')
  sale.status = statusOf('approved', sale.amount, sumOf(moved.map(({ amount }) => amount)))
  raiseRevision(sale, unit)
  await recordRefund(unit, sale, false)
}

function amountPaid({ record, sequence }: LockedInvoice): string {
  return record.order.invoices.find((one) => one.sequence === sequence)?.amountPaid ?? '0'
}
