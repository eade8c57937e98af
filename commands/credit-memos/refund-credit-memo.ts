/** What no invoice uses of a credit memo goes back by refunds of the customer's sales. */
import { creditMemoStatus } from '../../billing/credit-memos.ts'
import { ConflictError } from '../../billing/errors.ts'
import { isZero, Money, plainAmount } from '../../billing/money.ts'
import { type Parts, refundable, sharesOf, withReserved, withTakenBack } from '../../billing/refund-shares.ts'
import { changeTime, raiseRevision } from '../../db/change-row.ts'
import { type CreditMemo, Customer, Transaction } from '../../db/entities/index.ts'
import { MONEY_TAKEN } from '../../db/entities/transaction.ts'
import { lockRow } from '../../db/lock-row.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { creditMemoEvent } from '../../events/credit-memo-events.ts'
import { creditEntry } from '../../events/timeline.ts'
import { addRefund, owedOf, paidOf, readTakenBack, refundsOf } from '../payments/refund-sales.ts'

/**
 * Begins refunds of what a locked memo has left: of the sales for its invoice, then of those for its order, then of the
 * newest, and last of those with an open dispute. What banks took back is left out. Each refund has its own workflow; one
 * that moves no money returns its amount to the memo.
 * @throws ConflictError if nothing is left, or the refundable sales do not come to it.
 */
export async function refundCreditMemo(unit: UnitOfWork, memo: CreditMemo): Promise<void> {
  if (memo.status === 'voided') throw new ConflictError('The credit memo is voided.')
  if (isZero(memo.unusedAmount)) throw new ConflictError('Nothing of the credit memo is left to refund.')
  let open = new Money(memo.unusedAmount)
  for (const id of await findSales(unit, memo)) {
    if (open.isZero()) break
    const sale = await lockRow(unit, Transaction, id)
    if (sale === null) continue
    const paid = paidOf(sale)
    const reserved = await reservedOf(unit, sale)
    const made = await refundsOf(unit, id)
    const gone = withTakenBack(paid, made, await readTakenBack(unit, sale), owedOf(sale))
    const refunds = withReserved(paid, gone, reserved)
    const amount = Money.min(open, refundable(paid, refunds)).toFixed()
    if (isZero(amount)) continue
    open = open.minus(amount)
    sale.refundsBegun += 1
    const refund = addRefund(unit, sale, {
      amount,
      shares: sharesOf(paid, refunds, amount, reserved),
      requestId: `${sale.requestId}/${memo.id}/${sale.refundsBegun}`,
      creditMemoId: memo.id,
    })
    raiseRevision(sale, unit)
    memo.transactionAllocations = [...memo.transactionAllocations, { transactionId: refund.id, amount }]
  }
  if (!open.isZero()) {
    const most = new Money(memo.unusedAmount).minus(open).toFixed()
    throw new ConflictError(
      `The credit memo has ${plainAmount(memo.unusedAmount)} ${memo.currency} left, and the sales to the customer that can be refunded come to ${most}.`,
    )
  }
  memo.unusedAmount = '0'
  memo.status = creditMemoStatus(memo.totalAmount, '0')
}

/**
 * Returns what credit is not refunded from: what the sale itself owes, what open invoices have, and those of periods and orders ahead,
 * whose payments go back if the period does not come.
 */
async function reservedOf({ em, organizationId }: UnitOfWork, sale: Transaction): Promise<Parts> {
  const owed = owedOf(sale)
  const found = await statement<{ id: string }>(
    em,
    'find-invoices-that-keep-payments',
    `select invoice.id from invoices invoice
       left join subscriptions owner on owner.organization_id = invoice.organization_id and owner.id = invoice.subscription_id
      where invoice.organization_id = ? and invoice.id in (select jsonb_array_elements_text(?::jsonb))
        and (invoice.status in ('unpaid', 'past-due', 'partially-paid') or invoice.period_number > owner.rebill_number
          or owner.status = 'pending')`,
    [organizationId, JSON.stringify(sale.invoiceIds)],
  )
  return { ...owed, invoiceIds: [...new Set([...owed.invoiceIds, ...found.map(({ id }) => id)])] }
}

/** Gives the amount of a refund that moved no money back to its locked memo. */
export async function returnRefund(unit: UnitOfWork, memo: CreditMemo, refund: Transaction): Promise<void> {
  const { organizationId, baseUrl } = unit
  const time = changeTime(memo, unit)
  const left = memo.transactionAllocations.filter(({ transactionId }) => transactionId !== refund.id)
  if (left.length === memo.transactionAllocations.length) return
  memo.transactionAllocations = left
  memo.unusedAmount = new Money(memo.unusedAmount).plus(refund.amount).toFixed()
  memo.status = creditMemoStatus(memo.totalAmount, memo.unusedAmount)
  raiseRevision(memo, unit)
  const customer = await unit.em.findOne(Customer, { organizationId, id: memo.customerId })
  unit.emit(
    creditMemoEvent(memo, 'credit-memo-modified', { time, baseUrl, websiteId: customer?.websiteId ?? null }),
  )
  unit.addTimelineEntry(creditEntry('credit-memo-modified', memo, { time, cause: 'payment' }))
}

/**
 * Takes from its locked memo again what a refund that counted as canceled moved after all. The timeline says how much of
 * that was used meanwhile.
 */
export async function retakeRefund(unit: UnitOfWork, memo: CreditMemo, refund: Transaction): Promise<void> {
  const { organizationId, baseUrl } = unit
  const time = changeTime(memo, unit)
  if (memo.transactionAllocations.some(({ transactionId }) => transactionId === refund.id)) return
  const taken = Money.min(memo.unusedAmount, refund.amount)
  if (!taken.isZero()) {
    const allocation = { transactionId: refund.id, amount: taken.toFixed() }
    memo.transactionAllocations = [...memo.transactionAllocations, allocation]
    memo.unusedAmount = new Money(memo.unusedAmount).minus(taken).toFixed()
    memo.status = creditMemoStatus(memo.totalAmount, memo.unusedAmount)
    raiseRevision(memo, unit)
    const customer = await unit.em.findOne(Customer, { organizationId, id: memo.customerId })
    const websiteId = customer?.websiteId ?? null
    unit.emit(creditMemoEvent(memo, 'credit-memo-modified', { time, baseUrl, websiteId }))
  }
  const entry = creditEntry('credit-memo-modified', memo, { time, cause: 'payment' })
  const used = new Money(refund.amount).minus(taken)
  const shortfall = ` The refund ${refund.id} was approved late: ${used.toFixed()} ${memo.currency} of it had been used already.`
  unit.addTimelineEntry(used.isZero() ? entry : { ...entry, message: `${entry.message}${shortfall}` })
}

/** Payments outside of this service are refunded outside of it. */
async function findSales(
  { em, organizationId }: UnitOfWork,
  { customerId, currency, invoiceId, subscriptionId }: CreditMemo,
): Promise<readonly string[]> {
  const found = await statement<{ id: string }>(
    em,
    'find-refundable-sales',
    `select id from transactions sale
      where organization_id = ? and customer_id = ? and currency = ? and type in (${MONEY_TAKEN}) and result = 'approved'
        and gateway is not null and status <> 'refunded'
      order by exists (select from disputes dispute
                        where dispute.organization_id = sale.organization_id and dispute.transaction_id = sale.id
                          and dispute.status not in ('won', 'lost', 'forfeited')),
               (payments ->> ? is not null) desc, (subscription_ids @> ?::jsonb) desc, created_time desc, id desc`,
    [organizationId, customerId, currency, invoiceId ?? '', JSON.stringify([subscriptionId ?? ''])],
  )
  return found.map(({ id }) => id)
}
