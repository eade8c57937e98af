/**
 * A merchant's own invoices, which belong to no order. To the rules such an invoice is the only one of an order whose service
 * has ended: nothing renews it, and payments, credit, charges and its due time act on it as on any other.
 */
import type { Credit } from './credit-memos.ts'
import type { Priced } from './discounts.ts'
import { ConflictError, type InvalidField, refuse } from './errors.ts'
import { amountDue, type Invoice, type InvoiceLine, pricedAt, shippingLine } from './invoices.ts'
import { amountProblem, isZero, lineAmount, Money } from './money.ts'
import { blankOrder, changeInvoice, issue, type Order, type Transition, transition } from './order.ts'
import { type AutopayTerms, NO_REMINDERS, NOT_CHARGED, type OrderTerms } from './order-terms.ts'
import type { TaxSchedule } from './taxes.ts'

/** Each is the first and only one of its holder. */
export const OWN_SEQUENCE = 1

export const MOST_ITEMS = 1_000

/** What a merchant invoices: a debit raises the amount, a credit reduces it. Amounts are decimal strings. */
export interface OwnItem {
  readonly type: 'debit' | 'credit'
  readonly description: string
  readonly unitPrice: string
  readonly quantity: number
  readonly productId: string | null
  readonly planId: string | null
  /** The time that it is for; null: none is stated. */
  readonly periodStart: number | null
  readonly periodEnd: number | null
}

/** How an own invoice is taxed, and charged automatically. */
export type OwnCharging = AutopayTerms & Pick<OrderTerms, 'taxes'>

export function ownLine(item: OwnItem, currency: string): InvoiceLine {
  const { type, description, unitPrice, quantity, productId, planId, periodStart, periodEnd } = item
  const signed = type === 'credit' ? new Money(unitPrice).negated() : new Money(unitPrice)
  return {
    type: 'item',
    itemId: null,
    planId,
    productId,
    description,
    quantity,
    unitPrice: signed.toFixed(),
    amount: lineAmount(signed.times(quantity), currency),
    ...(periodStart === null ? {} : { periodStart }),
    ...(periodEnd === null ? {} : { periodEnd }),
  }
}

export function shippingOf(amount: string | null, currency: string): InvoiceLine[] {
  return shippingLine({ shipping: amount, currency })
}

/** Throws InvalidFieldsError where credits exceed debits, or the total what an amount may be. */
export function pricedDraft<Line extends InvoiceLine>(
  lines: readonly Line[],
  currency: string,
  at: number,
  taxes: TaxSchedule | null = null,
): Priced<Line> {
  const terms = ownTerms(currency, at, { ...NOT_CHARGED, taxes })
  const price = pricedAt({ terms, invoices: [] }, lines, at, OWN_SEQUENCE)
  checkTotal(price.amount, currency)
  // Pricing changes lines and keeps their other members.
  return price as Priced<Line>
}

function checkTotal(amount: string, currency: string): void {
  const problem = amountProblem(amount, currency)
  if (problem !== null) refuse('items', problem.code, problem.message)
  if (new Money(amount).lessThan(0)) refuse('items', 'out-of-range', 'must not credit more than they debit')
}

/** `path` leads to the item in the body: `items.0.`. */
export function itemProblems(
  { type, unitPrice, quantity }: OwnItem,
  currency: string,
  path: string,
): InvalidField[] {
  const field = `${path}unitPrice`
  const problem =
    amountProblem(unitPrice, currency) ??
    amountProblem(new Money(unitPrice).times(quantity).toFixed(), currency)
  if (problem !== null) return [{ field, ...problem }]
  if (type !== 'credit' || !isZero(unitPrice)) return []
  return [{ field, code: 'out-of-range', message: 'must be greater than 0 for a credit' }]
}

/** Returns an own invoice as the rules of orders read it. */
export function ownInvoice(invoice: Invoice, terms: OrderTerms, credit: readonly Credit[]): Order {
  return {
    ...blankOrder(terms),
    status: 'completed',
    invoices: [invoice],
    nextInvoice: OWN_SEQUENCE + 1,
    credit,
  }
}

export function ownTerms(
  currency: string,
  createdTime: number,
  charging: OwnCharging = NOT_CHARGED,
): OrderTerms {
  return {
    currency,
    createdTime,
    startTime: createdTime,
    abandonTime: null,
    items: [],
    trial: null,
    interval: null,
    invoiceTimeShift: null,
    delinquencyPeriod: null,
    shipping: null,
    coupons: [],
    reminders: NO_REMINDERS,
    ...charging,
  }
}

export interface OwnIssue {
  /** null: now. */
  readonly issuedTime: number | null
  /** null: that of the draft, else as of an order's invoice. */
  readonly dueTime: number | null
}

/**
 * Issues a draft, to be charged when it says so; one of which nothing is due is paid at once. Throws
 * InvalidFieldsError, or ConflictError for an invoice of an order, without items, or issued already.
 */
export function issueInvoice(order: Order, at: number, given: OwnIssue): Transition {
  const draft = draftOf(order)
  if (draft.lines.length === 0) throw new ConflictError('An invoice without items cannot be issued.')
  const issuedTime = given.issuedTime ?? at
  if (issuedTime > at) refuse('issuedTime', 'out-of-range', 'must not be in the future')
  if (given.dueTime !== null && given.dueTime < issuedTime)
    refuse('dueTime', 'out-of-range', 'must not be before the issue')
  // Rates may have changed since it was drafted.
  checkTotal(pricedAt(order, draft.lines, at, OWN_SEQUENCE).amount, order.terms.currency)
  const dueTime = given.dueTime ?? draft.dueTime
  return transition(order, at, 'api', (change) => {
    issue(change, OWN_SEQUENCE, Math.max(draft.chargeTime ?? at, at))
    const invoice = change.order.invoices[0] ?? draft
    const due = dueTime === null ? {} : { dueTime: Math.max(dueTime, issuedTime) }
    const rest = isZero(amountDue(invoice)) ? { chargeTime: null } : due
    changeInvoice(change, OWN_SEQUENCE, { issuedTime, ...rest })
  })
}

function draftOf({ invoices, terms }: Order): Invoice {
  const [invoice] = invoices
  if (terms.items.length > 0) throw new ConflictError('The invoice belongs to an order, which issues it.')
  if (invoice?.status === 'draft') return invoice
  throw new ConflictError('Only a draft can be issued.')
}
