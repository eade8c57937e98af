import {
  creditChanges,
  creditedItem,
  creditMemoStatus,
  creditMemoTotal,
  withoutAmount,
} from '../../billing/credit-memos.ts'
import type { Invoice as InvoiceState } from '../../billing/invoices.ts'
import { isZero, Money } from '../../billing/money.ts'
import type { DomainEvent, Transition } from '../../billing/order.ts'
import { raiseRevisionOnce } from '../../db/change-row.ts'
import { CreditMemo, type Invoice, type Subscription } from '../../db/entities/index.ts'
import { newId } from '../../db/new-id.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { creditMemoEvent } from '../../events/credit-memo-events.ts'
import { creditEntry } from '../../events/timeline.ts'
import { addCreditMemo } from '../credit-memos/add-credit-memo.ts'
import type { InvoicesRecord } from '../invoices/invoices-record.ts'
import type { OrderRecord } from './order-record.ts'
import { creditOfMemo } from './rows-to-order.ts'

/**
 * Locks memos with unused credit, and those that the invoices use: no other order of a customer uses them
 * meanwhile. Orders and own invoices are locked before, memos in the order of their ids. Returns each customer's, oldest
 * first.
 */
export async function lockCredit(
  unit: UnitOfWork,
  owners: readonly Pick<Subscription | Invoice, 'customerId'>[],
  invoices: readonly Pick<Invoice, 'credits'>[],
): Promise<ReadonlyMap<string, CreditMemo[]>> {
  const { em, organizationId } = unit
  const used = invoices.flatMap(({ credits }) => credits.map(({ creditMemoId }) => creditMemoId))
  const locked = await statement<{ id: string }>(
    em,
    'lock-credit-memos',
    `select id from credit_memos
      where organization_id = ?
        and ((customer_id in (select jsonb_array_elements_text(?::jsonb)) and unused_amount > 0)
             or id in (select jsonb_array_elements_text(?::jsonb)))
      order by id for update`,
    [
      organizationId,
      JSON.stringify([...new Set(owners.map(({ customerId }) => customerId))]),
      JSON.stringify([...new Set(used)]),
    ],
  )
  if (locked.length === 0) return new Map()
  // Another order of the same transaction may have used them already.
  await em.flush()
  const memos = await em.find(
    CreditMemo,
    { organizationId, id: { $in: locked.map(({ id }) => id) } },
    { orderBy: { createdTime: 'asc', id: 'asc' }, refresh: true },
  )
  return Map.groupBy(memos, ({ customerId }) => customerId)
}

/** Locks what `lockCredit` would for each of several locked orders and own invoices, in one order of ids for all of them. */
export async function lockCreditOfAll(
  unit: UnitOfWork,
  orders: readonly Pick<Subscription, 'id' | 'customerId'>[],
  own: readonly Invoice[],
): Promise<void> {
  const invoices = await statement<Pick<Invoice, 'credits'>>(
    unit.em,
    'read-credits-of-owners',
    `select credits from invoices
      where organization_id = ? and credits <> '[]'
        and (subscription_id in (select jsonb_array_elements_text(?::jsonb)) or id in (select jsonb_array_elements_text(?::jsonb)))`,
    [
      unit.organizationId,
      JSON.stringify(orders.map(({ id }) => id)),
      JSON.stringify(own.map(({ id }) => id)),
    ],
  )
  await lockCredit(unit, [...orders, ...own], invoices)
}

/** Other orders of the customer may have used its memos meanwhile. */
export function renewCredit(record: InvoicesRecord): void {
  if (record.creditMemos.size === 0) return
  const memos = [...record.creditMemos.values()]
  record.order = { ...record.order, credit: memos.map((memo) => creditOfMemo(memo, record.row.id)) }
}

/** Adds the memo of what an order whose service has ended leaves as credit. */
export function addMemoOfOrder(
  unit: UnitOfWork,
  record: OrderRecord,
  { credit = [] }: DomainEvent,
  { time, cause }: { readonly time: Date } & Pick<Transition, 'cause'>,
): void {
  const { id: subscriptionId, customerId, websiteId, currency, status } = record.row
  const items = credit.map(creditedItem)
  const memo = addCreditMemo(
    unit,
    {
      id: newId('cm'),
      customerId,
      invoiceId: null,
      currency,
      items,
      shippingAmount: '0',
      reason: status === 'churned' || status === 'canceled' ? 'order-cancellation' : 'order-change',
      description: `Unused credit of order ${subscriptionId}`,
      totalAmount: creditMemoTotal(items, '0', currency),
    },
    { time, cause, websiteId, subscriptionId },
  )
  record.creditMemos.set(memo.id, memo)
  record.changedRows.add(memo)
}

/** Makes memos less by what the rules take back from them. One of which nothing stands is voided. */
export function reduceMemos(
  unit: UnitOfWork,
  record: OrderRecord,
  events: readonly DomainEvent[],
  { time, cause }: { readonly time: Date } & Pick<Transition, 'cause'>,
): void {
  for (const { reduced } of events) {
    if (reduced === undefined) continue
    const memo = record.creditMemos.get(reduced.creditMemoId)
    if (memo === undefined) throw new Error(`the credit memo ${reduced.creditMemoId} is not locked`)
    const unused = new Money(memo.unusedAmount).minus(reduced.amount)
    if (unused.isNegative() && !unused.isZero()) throw new Error(`the credit memo ${memo.id} is used`)
    const totalAmount = new Money(memo.totalAmount).minus(reduced.amount).toFixed()
    raiseRevisionOnce(memo, unit, record)
    const isVoided = isZero(totalAmount)
    if (isVoided) Object.assign(memo, { status: 'voided', unusedAmount: '0', voidedTime: time })
    else {
      const { items, shippingAmount } = withoutAmount(memo, reduced.amount, memo.currency)
      const unusedAmount = unused.toFixed()
      const status = creditMemoStatus(totalAmount, unusedAmount)
      Object.assign(memo, { items: [...items], shippingAmount, totalAmount, unusedAmount, status })
    }
    const type = isVoided ? 'credit-memo-voided' : 'credit-memo-modified'
    const { websiteId, id: subscriptionId } = record.row
    unit.emit(creditMemoEvent(memo, type, { time, baseUrl: unit.baseUrl, websiteId }))
    unit.addTimelineEntry(creditEntry(type, memo, { time, cause, subscriptionId }))
  }
}

export function writeCredit(
  unit: UnitOfWork,
  record: InvoicesRecord,
  { time, cause }: { readonly time: Date } & Pick<Transition, 'cause'>,
  invoice: InvoiceState,
  before: InvoiceState | null,
): void {
  if (invoice.credits === before?.credits) return
  const row = record.invoices.get(invoice.sequence)
  if (row === undefined) return
  for (const { creditMemoId, amount } of creditChanges(before?.credits ?? [], invoice.credits)) {
    const memo = record.creditMemos.get(creditMemoId)
    if (memo === undefined) throw new Error(`the credit memo ${creditMemoId} of an invoice is not locked`)
    const left = new Money(memo.unusedAmount).minus(amount)
    if (left.isNegative()) throw new Error(`the credit memo ${creditMemoId} is used twice`)
    raiseRevisionOnce(memo, unit, record)
    memo.unusedAmount = left.toFixed()
    memo.status = creditMemoStatus(memo.totalAmount, memo.unusedAmount)
    const others = memo.invoiceAllocations.filter(({ invoiceId }) => invoiceId !== row.id)
    const own = invoice.credits.find((one) => one.creditMemoId === creditMemoId)
    memo.invoiceAllocations =
      own === undefined ? others : [...others, { invoiceId: row.id, amount: own.amount }]
    const isUsed = !new Money(amount).isNegative()
    const type = !isUsed
      ? 'credit-memo-modified'
      : memo.status === 'applied'
        ? 'credit-memo-applied'
        : 'credit-memo-partially-applied'
    unit.emit(creditMemoEvent(memo, type, { time, baseUrl: unit.baseUrl, websiteId: row.websiteId }))
    unit.addTimelineEntry(
      creditEntry(type, memo, { time, cause, invoiceId: row.id, subscriptionId: row.subscriptionId ?? null }),
    )
  }
}
