/** Callers create, change and void credit memos; invoices use them by the rules of orders (decisions 6.3). */
import { canonicalJson } from '../../billing/canonical-json.ts'
import { type CreditMemoItem, type CreditMemoReason, creditMemoTotal } from '../../billing/credit-memos.ts'
import { ConflictError, type InvalidField, InvalidFieldsError } from '../../billing/errors.ts'
import { withdrawnCredit } from '../../billing/given-credit.ts'
import { isOpen } from '../../billing/invoices.ts'
import { amountProblem, isZero, Money, plainAmount } from '../../billing/money.ts'
import { transition } from '../../billing/order.ts'
import { creditInvoice, requireNoCharge } from '../../billing/order-payments.ts'
import { changeTime } from '../../db/change-row.ts'
import { CreditMemo, Customer, Invoice } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import { newId } from '../../db/new-id.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { creditMemoEvent } from '../../events/credit-memo-events.ts'
import { creditEntry } from '../../events/timeline.ts'
import { actOnInvoice, lockInvoice } from '../invoices/act-on-invoice.ts'
import { lockSubscription } from '../orders/advance-order.ts'
import { renewCredit } from '../orders/credit.ts'
import { references } from '../references.ts'
import { addCreditMemo } from './add-credit-memo.ts'

export interface CreditMemoValues {
  readonly customerId: string
  readonly invoiceId: string | null
  readonly currency: string
  readonly items: readonly CreditMemoItem[]
  /** A decimal string. */
  readonly shippingAmount: string
  readonly reason: CreditMemoReason
  readonly description: string
}

/**
 * Emits `credit-memo-created`. The named invoice is covered at once; the rest waits for the next one in its
 * currency. Throws InvalidFieldsError, or ConflictError while the invoice is being charged.
 */
export async function createCreditMemo(
  unit: UnitOfWork,
  id: string,
  given: CreditMemoValues,
): Promise<CreditMemo> {
  const totalAmount = totalOf(given)
  // The order, or the own invoice, is locked before the customer is held.
  const owned = given.invoiceId === null ? null : await lockInvoice(unit, given.invoiceId)
  const invoice = owned?.invoice ?? null
  const found = references(unit)
  const customer = await found.required(Customer, 'customerId', given.customerId)
  if (given.invoiceId !== null) {
    if (invoice === null) found.missing(Invoice, 'invoiceId')
    else if (invoice.customerId !== given.customerId)
      found.fail('invoiceId', 'mismatch', 'must be an invoice of the customer')
    else if (invoice.currency !== given.currency)
      found.fail('invoiceId', 'mismatch', `must have the currency of the credit memo: ${given.currency}`)
  }
  found.check()
  const websiteId = invoice?.websiteId ?? customer?.websiteId ?? null
  const create = (time: Date): CreditMemo =>
    addCreditMemo(unit, { id, ...given, totalAmount }, { time, cause: 'api', websiteId })
  if (owned === null || invoice === null) {
    const waiting = create(unit.now)
    await unit.numberIssued()
    return waiting
  }
  let memo: CreditMemo | null = null
  await actOnInvoice(unit, owned, (record, at) => {
    const state = record.order.invoices.find(({ sequence }) => sequence === invoice.sequence)
    if (state !== undefined && isOpen(state)) requireNoCharge(state)
    memo = create(new Date(at))
    record.creditMemos.set(memo.id, memo)
    record.changedRows.add(memo)
    renewCredit(record)
    const own = record.order.credit.filter(({ creditMemoId }) => creditMemoId === id)
    return state !== undefined && isOpen(state)
      ? creditInvoice(record.order, at, invoice.sequence, own).transition
      : transition(record.order, at, 'api', () => {})
  })
  if (memo === null) throw new Error('a credit memo that was accepted left no row')
  return memo
}

/** Locks the order that left the memo before the memo (ADR 76). Returns null if the memo does not exist. */
export async function lockCreditMemo(unit: UnitOfWork, id: string): Promise<CreditMemo | null> {
  const { em, organizationId } = unit
  const memo = await em.findOne(CreditMemo, { organizationId, id })
  if (memo?.subscriptionId != null) await lockSubscription(unit, memo.subscriptionId)
  return memo === null ? null : await lockRow(unit, CreditMemo, id)
}

/** Changes a locked memo, its amounts only while it is unused. Throws InvalidFieldsError, ConflictError. */
export async function updateCreditMemo(
  unit: UnitOfWork,
  memo: CreditMemo,
  given: CreditMemoValues,
): Promise<void> {
  const totalAmount = totalOf(given)
  for (const member of ['customerId', 'invoiceId', 'currency'] as const) {
    if ((memo[member] ?? null) !== given[member])
      throw new ConflictError(`The ${member} of a credit memo cannot be changed.`)
  }
  const { reason, description } = given
  Object.assign(memo, { reason, description })
  const known = memo.items.map(({ id: _, ...item }) => item)
  const isSame =
    canonicalJson(known) === canonicalJson(given.items) &&
    plainAmount(memo.shippingAmount) === given.shippingAmount
  if (isSame) return
  requireUnused(memo, 'changed')
  await withdrawFromOrder(unit, memo, new Money(memo.totalAmount).minus(totalAmount))
  Object.assign(memo, {
    items: given.items.map((item, index) => ({ id: memo.items[index]?.id ?? newId('item'), ...item })),
    shippingAmount: given.shippingAmount,
    totalAmount,
    unusedAmount: totalAmount,
  })
}

/** Voids a locked memo. Throws ConflictError if an invoice uses it, or if it is voided already. */
export async function voidCreditMemo(unit: UnitOfWork, memo: CreditMemo): Promise<void> {
  requireUnused(memo, 'voided')
  await withdrawFromOrder(unit, memo, new Money(memo.totalAmount))
  Object.assign(memo, { status: 'voided', unusedAmount: '0', voidedTime: unit.now })
}

export async function emitCreditMemoChange(
  unit: UnitOfWork,
  memo: CreditMemo,
  type: 'credit-memo-modified' | 'credit-memo-applied' | 'credit-memo-voided',
): Promise<void> {
  const { organizationId, baseUrl } = unit
  const time = changeTime(memo, unit)
  const customer = await unit.em.findOne(Customer, { organizationId, id: memo.customerId })
  unit.emit(creditMemoEvent(memo, type, { time, baseUrl, websiteId: customer?.websiteId ?? null }))
  unit.addTimelineEntry(creditEntry(type, memo, { time, cause: 'api' }))
}

/**
 * Takes what a memo no longer credits off what is credited of the invoices of its locked order, the latest first: a refund of
 * them has nothing of it to take back.
 */
async function withdrawFromOrder(
  { em, organizationId }: UnitOfWork,
  { subscriptionId = null }: CreditMemo,
  amount: Money,
): Promise<void> {
  if (subscriptionId === null || !amount.greaterThan(0)) return
  const credited = { organizationId, subscriptionId, amountCredited: { $gt: '0' } }
  const invoices = await em.find(Invoice, credited, { refresh: true })
  for (const { invoice, count } of withdrawnCredit(invoices, amount.toFixed())) Object.assign(invoice, count)
}

function requireUnused({ status, totalAmount, unusedAmount }: CreditMemo, done: string): void {
  if (status === 'voided') throw new ConflictError('The credit memo is voided.')
  if (new Money(unusedAmount).equals(totalAmount)) return
  throw new ConflictError(`A credit memo that is used cannot be ${done}.`)
}

function totalOf({ items, shippingAmount, currency }: CreditMemoValues): string {
  const problems: InvalidField[] = []
  const check = (field: string, amount: string): void => {
    const problem = amountProblem(amount, currency)
    if (problem !== null) problems.push({ field, ...problem })
  }
  items.forEach(({ unitPrice, tax }, index) => {
    check(`items.${index}.unitPrice`, unitPrice)
    check(`items.${index}.tax.amount`, tax?.amount ?? '0')
  })
  check('shippingAmount', shippingAmount)
  const total = creditMemoTotal(items, shippingAmount, currency)
  if (problems.length === 0) check('items', total)
  if (problems.length === 0 && isZero(total))
    problems.push({ field: 'items', code: 'out-of-range', message: 'must credit more than 0' })
  if (problems.length > 0) throw new InvalidFieldsError(problems)
  return total
}
