import { canonicalJson } from './canonical-json.ts'
import { discountsAt } from './coupons.ts'
import { type CreditAllocation, creditedAmount } from './credit-memos.ts'
import { type InvoiceDiscount, type Priced, priced } from './discounts.ts'
import type { Decline } from './dunning.ts'
import { type Duration, reach } from './durations.ts'
import { LATEST_INSTANT, orNever } from './instants.ts'
import { isZero, lineAmount, Money, sumOfMoney, unitsFor } from './money.ts'
import { isPostpaid, type OrderTerms, type PricedItem, planBilling, shifted } from './order-terms.ts'
import { type PricePart, priceOf, priceParts } from './pricing.ts'
import { type LineTax, taxesAt } from './taxes.ts'

export const INVOICE_STATUSES = [
  'draft',
  'unpaid',
  'past-due',
  'abandoned',
  'paid',
  'voided',
  'refunded',
  'disputed',
  'partially-refunded',
  'partially-paid',
] as const
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number]

/**
 * `initial`: the first invoice of an order. `renewal`: that of a later period. `interim`: what is billed between renewals.
 * `one-time`: an invoice of the merchant's own, which belongs to no order.
 */
export type InvoiceType = 'initial' | 'renewal' | 'interim' | 'one-time'

export interface InvoiceLine {
  /** `proration` is for a part of a period: a credit, whose amount is negative, or a debit. */
  readonly type: 'setup' | 'trial' | 'plan' | 'one-time' | 'shipping' | 'proration' | 'item'
  /** null for shipping. */
  readonly itemId: string | null
  readonly planId: string | null
  readonly productId?: string | null
  readonly description: string
  readonly quantity: number
  /** Exact, in the currency's units; lines of earlier releases have none. */
  readonly unitPrice?: string
  /** The quantity at the unit price. Exact, in the currency's units. */
  readonly amount: string
  /** Left out where discounts take nothing. */
  readonly discount?: string
  /** Left out where there are none. A proration keeps its own. */
  readonly taxes?: readonly LineTax[]
  /** Of a proration: the time that it is for. */
  readonly periodStart?: number
  readonly periodEnd?: number
  /** True if the line was queued before the invoice was made. */
  readonly isQueued?: true
}

/** A charge whose outcome is unknown. Until it is known, no other charge of the invoice starts. */
export interface OpenCharge {
  /** False: a caller makes it. */
  readonly isOwn: boolean
  /** When it counts as made. */
  readonly at: number
  /** `none` yet, `unknown`, or `timed-out` after a day, when it counts as declined. */
  readonly answer: 'none' | 'unknown' | 'timed-out'
  /** When the gateway is asked for its outcome; null: another workflow asks, or inquiries have ended. */
  readonly askTime: number | null
}

/** What was refunded and taken back by then. Exact. */
export interface CreditWithdrawal {
  readonly refunded: string
  readonly takenBack: string
}

export interface Invoice {
  readonly sequence: number
  readonly type: InvoiceType
  readonly status: InvoiceStatus
  readonly lines: readonly InvoiceLine[]
  readonly discounts: readonly InvoiceDiscount[]
  readonly amount: string
  /** The period of service, half-open; null where nothing recurs, or before activation. */
  readonly periodNumber: number | null
  readonly periodStart: number | null
  readonly periodEnd: number | null
  readonly issuedTime: number | null
  readonly dueTime: number | null
  readonly delinquencyTime: number | null
  readonly paidTime: number | null
  readonly voidedTime: number | null
  readonly abandonedTime: number | null
  /** null: no charge is automatic. */
  readonly chargeTime: number | null
  readonly attempts: number
  /** When the first charge was declined, or timed out; retries count from it. */
  readonly declinedTime: number | null
  /** Since a new instrument was last given, one for each that was declined; the latest last. */
  readonly declines: readonly Decline[]
  readonly charge: OpenCharge | null
  /** Exact; refunds are not subtracted. */
  readonly amountPaid: string
  readonly amountRefunded: string
  /** What of that was owed again, since the invoice was open. Exact. */
  readonly refundedWhileOpen: string
  /** What was credited of the time that it billed. Exact; below zero where more of that time is still to be billed. */
  readonly amountCredited: string
  /** What was taken back of that, because it was refunded too. Exact. */
  readonly creditTakenBack: string
  /** One for each time that the merchant withdrew credit of it while other credit was taken back. */
  readonly creditWithdrawals: readonly CreditWithdrawal[]
  readonly credits: readonly CreditAllocation[]
  readonly isDisputed: boolean
}

/** A postpaid order is billed for its periods, and for shipping, at their ends. */
export function initialLines(terms: OrderTerms): InvoiceLine[] {
  const setups = terms.items.flatMap((item) =>
    item.plan.setup === null ? [] : [itemLine(terms, item, 'setup', item.plan.setup.price)],
  )
  const served = terms.items.flatMap((item) => {
    if (isOneTime(terms, item)) return planLines(terms, item)
    if (terms.trial !== null) return [itemLine(terms, item, 'trial', item.plan.trial?.price ?? '0')]
    return isPostpaid(terms) ? [] : planLines(terms, item)
  })
  return [...setups, ...served, ...(isPostpaid(terms) ? [] : shippingLine(terms))]
}

export function renewalLines(terms: OrderTerms): InvoiceLine[] {
  const recurring = terms.items.filter(({ plan }) => planBilling(plan, terms) === 'recurring')
  return [...recurring.flatMap((item) => planLines(terms, item)), ...shippingLine(terms)]
}

/** Prices the lines with the order's coupons that have not expired at the instant. */
export function pricedAt(
  { terms, invoices }: { readonly terms: OrderTerms; readonly invoices: readonly Invoice[] },
  lines: readonly InvoiceLine[],
  at: number,
  sequence: number,
): Priced<InvoiceLine> {
  const others = invoices.filter((one) => one.sequence !== sequence && isLive(one))
  const discounts = discountsAt(
    terms.coupons,
    terms,
    lines,
    { at, sequence },
    (redemptionId) =>
      others.filter((one) => one.discounts.some((discount) => discount.redemptionId === redemptionId)).length,
  )
  return priced(lines, discounts, terms.currency, taxesAt(terms.taxes, at))
}

/** Returns what the terms sell once and an order's items before did not: other items, and more units of the same. */
export function addedSales(terms: OrderTerms, before: readonly PricedItem[]): InvoiceLine[] {
  const sales = terms.items.filter((item) => isOneTime(terms, item))
  return sales.flatMap((item) => {
    const sold = before.find(({ id }) => id === item.id)
    if (sold === undefined) return planLines(terms, item)
    return item.quantity > sold.quantity ? furtherUnits(terms, item, sold.quantity) : []
  })
}

/** Returns the queue without what the terms sell no more of the items before: what waits is not billed, and can be taken back. */
export function withoutReturned(
  queue: readonly InvoiceLine[],
  terms: OrderTerms,
  before: readonly PricedItem[],
): readonly InvoiceLine[] {
  return before.reduce((lines, item) => {
    const now = terms.items.find(({ id }) => id === item.id)
    const waiting = lines.filter(({ type, itemId }) => type === 'one-time' && itemId === item.id)
    if (waiting.length === 0 || (now !== undefined && now.quantity >= item.quantity)) return lines
    const others = lines.filter((line) => !waiting.includes(line))
    return now === undefined ? others : [...others, ...fewerUnits(terms, now, item.quantity, waiting)]
  }, queue)
}

/** Returns what the items cost for the trial or a period, without what is charged once or by delivery. */
export function periodLines(terms: OrderTerms, inTrial: boolean): InvoiceLine[] {
  const type = inTrial ? 'trial' : 'plan'
  return (inTrial ? initialLines(terms) : renewalLines(terms)).filter((line) => line.type === type)
}

export function draftInvoice(
  sequence: number,
  type: InvoiceType,
  price: Priced<InvoiceLine>,
  period: Pick<Invoice, 'periodNumber' | 'periodStart' | 'periodEnd'>,
): Invoice {
  return {
    sequence,
    type,
    status: 'draft',
    ...price,
    ...period,
    issuedTime: null,
    dueTime: null,
    delinquencyTime: null,
    paidTime: null,
    voidedTime: null,
    abandonedTime: null,
    chargeTime: null,
    attempts: 0,
    declinedTime: null,
    declines: [],
    charge: null,
    amountPaid: '0',
    amountRefunded: '0',
    refundedWhileOpen: '0',
    amountCredited: '0',
    creditTakenBack: '0',
    creditWithdrawals: [],
    credits: [],
    isDisputed: false,
  }
}

/** Issues a draft at `at`, due after the later of `at` and `chargedAt`. It is paid at once if nothing is due. */
export function issued(invoice: Invoice, terms: OrderTerms, at: number, chargedAt: number): Invoice {
  if (isZero(amountDue(invoice))) {
    return { ...invoice, status: 'paid', issuedTime: at, dueTime: at, paidTime: at }
  }
  const dueTime = dueAfter(terms, at, chargedAt)
  return {
    ...invoice,
    status: 'unpaid',
    issuedTime: at,
    dueTime,
    delinquencyTime: delinquentAfter(dueTime, terms.delinquencyPeriod),
    chargeTime: terms.canCharge ? chargedAt : null,
  }
}

type Due = Pick<Invoice, 'dueTime' | 'delinquencyTime' | 'status'>

/** Moves the due time of an open invoice. The delinquency time moves along; if due ahead, it is not past due any more. */
export function dueAt(invoice: Invoice, dueTime: number, at: number): Due {
  const { delinquencyTime, status } = invoice
  const isAhead = pastDueTime(dueTime) > at
  return {
    dueTime,
    delinquencyTime:
      delinquencyTime === null ? null : orNever(delinquencyTime + dueTime - (invoice.dueTime ?? dueTime)),
    status: status === 'past-due' && isAhead ? moneyStatus({ ...invoice, status: 'unpaid' }, at) : status,
  }
}

/** For a late charge at `at`. The delinquency time stays as far from the due time, whatever later terms say. */
export function dueWhenLate(invoice: Invoice, terms: OrderTerms, at: number): Due {
  return dueAt(invoice, dueAfter(terms, at, at), at)
}

/** The times of an issued invoice move only with the members of the terms that changed. */
export function dueUnder(invoice: Invoice, before: OrderTerms, terms: OrderTerms, at: number): Due {
  const { issuedTime, dueTime, delinquencyTime, status } = invoice
  const since = issuedTime ?? terms.startTime
  const moved = dueAfter(terms, since, since) - dueAfter(before, since, since)
  const isPeriodNew = canonicalJson(terms.delinquencyPeriod) !== canonicalJson(before.delinquencyPeriod)
  if (dueTime === null || (moved === 0 && !isPeriodNew)) return { dueTime, delinquencyTime, status }
  const due = Math.min(Math.max(dueTime + moved, terms.startTime), LATEST_INSTANT)
  return { ...dueAt(invoice, due, at), delinquencyTime: delinquentAfter(due, terms.delinquencyPeriod) }
}

export function earlyIssue(terms: OrderTerms, boundary: number): number | null {
  const shift = terms.invoiceTimeShift?.issueTimeShift
  if (shift == null || shift.duration === 0) return null
  return shifted(boundary, { ...shift, chronology: 'before' })
}

/** Returns the time of the automatic charge, planned or of unknown outcome; null: none. */
export function autopayScheduledTime({
  chargeTime,
  charge,
}: Pick<Invoice, 'chargeTime' | 'charge'>): number | null {
  if (chargeTime !== null) return chargeTime
  return charge?.isOwn === true && charge.answer !== 'timed-out' ? charge.at : null
}

export function pastDueTime(dueTime: number): number {
  return dueTime + DAY
}

/** Returns zero unless the invoice is a draft or open. */
export function amountDue(
  invoice: Pick<Invoice, 'status' | 'amount' | 'amountPaid' | 'amountRefunded' | 'credits'>,
): string {
  if (invoice.status !== 'draft' && !isOpen(invoice)) return '0'
  const { amount, amountPaid, amountRefunded, credits } = invoice
  return new Money(amount).minus(creditedAmount(credits)).minus(amountPaid).plus(amountRefunded).toFixed()
}

/** Returns what payments and credit are above the amount; zero for an invoice that has ended without them. */
export function surplusOf({
  status,
  amount,
  amountPaid,
  amountRefunded,
  credits,
}: Pick<Invoice, 'status' | 'amount' | 'amountPaid' | 'amountRefunded' | 'credits'>): string {
  if (!isOpen({ status }) && !HOLDS_MONEY.has(status)) return '0'
  const covered = new Money(amountPaid).minus(amountRefunded).plus(creditedAmount(credits))
  return Money.max(covered.minus(amount), 0).toFixed()
}

export function isUncharged({ charge, chargeTime, declinedTime }: Invoice): boolean {
  return charge === null && chargeTime === null && declinedTime === null
}

export function isLive({ status }: Pick<Invoice, 'status'>): boolean {
  return status !== 'voided' && status !== 'abandoned'
}

/** True if the invoice is issued, not fully paid, and not voided or abandoned. */
export function isOpen({ status }: Pick<Invoice, 'status'>): boolean {
  return status === 'unpaid' || status === 'past-due' || status === 'partially-paid'
}

const DAY = 86_400_000
const HOUR = 3_600_000

function dueAfter(terms: OrderTerms, at: number, chargedAt: number): number {
  const shift = terms.invoiceTimeShift?.dueTimeShift
  const after = shift == null ? at + HOUR : (shifted(at, { ...shift, chronology: 'after' }) ?? at + HOUR)
  return Math.min(Math.max(after, chargedAt), LATEST_INSTANT)
}

function delinquentAfter(dueTime: number, period: Duration | null): number | null {
  return period === null ? null : reach(dueTime, period)
}

function isOneTime(terms: OrderTerms, { plan }: PricedItem): boolean {
  return planBilling(plan, terms) === 'one-time'
}

function planLines(terms: OrderTerms, item: PricedItem): InvoiceLine[] {
  const { id, plan } = item
  const parts = priceParts(plan.pricing, item.quantity)
  return parts.map((part) => ({
    type: isOneTime(terms, item) ? 'one-time' : 'plan',
    itemId: id,
    planId: plan.id,
    productId: plan.productId ?? null,
    description: `${plan.name}${unitsOf(part, parts.length > 1)}`,
    quantity: part.quantity,
    unitPrice: part.unitPrice,
    amount: lineAmount(new Money(part.unitPrice).times(part.quantity), terms.currency),
  }))
}

/** What units beyond those sold add to the price of an item; nothing where all of them cost no more. */
function furtherUnits(terms: OrderTerms, item: PricedItem, sold: number): InvoiceLine[] {
  const { plan, quantity } = item
  if (plan.pricing.formula === 'flat-rate') return planLines(terms, { ...item, quantity: quantity - sold })
  const priceAt = (units: number) => new Money(priceOf(plan.pricing, units, terms.currency))
  const amount = priceAt(quantity).minus(priceAt(sold))
  if (!amount.greaterThan(0)) return []
  const units = unitsOf({ units: [sold + 1, quantity], quantity }, true)
  return [{ ...itemLine(terms, item, 'one-time', amount.toFixed()), description: `${plan.name}${units}` }]
}

/** What waits of an item that had more units: the latest are taken back first. */
function fewerUnits(
  terms: OrderTerms,
  item: PricedItem,
  before: number,
  waiting: readonly InvoiceLine[],
): InvoiceLine[] {
  const { plan, quantity } = item
  const priceAt = (units: number) => new Money(priceOf(plan.pricing, units, terms.currency))
  const whole = sumOfMoney(waiting.map(({ amount }) => new Money(amount)))
  if (whole.equals(priceAt(before))) return planLines(terms, item)
  const returned = Money.max(0, priceAt(before).minus(priceAt(quantity)))
  const left = whole.minus(returned)
  if (!left.greaterThan(0)) return []
  if (plan.pricing.formula === 'flat-rate')
    return planLines(terms, { ...item, quantity: unitsFor(left, plan.pricing.price) })
  return [{ ...itemLine(terms, item, 'one-time', left.toFixed()), description: plan.name }]
}

function unitsOf(
  { quantity, units: [from, through] }: Pick<PricePart, 'quantity' | 'units'>,
  isOneOfSeveral: boolean,
): string {
  if (isOneOfSeveral) return from === through ? ` (unit ${from})` : ` (units ${from} to ${through})`
  return quantity === through ? '' : ` (${through} units)`
}

function itemLine(
  terms: OrderTerms,
  { id, plan }: PricedItem,
  type: 'setup' | 'trial' | 'one-time',
  price: string,
): InvoiceLine {
  const amount = lineAmount(new Money(price), terms.currency)
  return {
    type,
    itemId: id,
    planId: plan.id,
    productId: plan.productId ?? null,
    description: `${plan.name}: ${type}`,
    quantity: 1,
    unitPrice: amount,
    amount,
  }
}

export function shippingLine({
  shipping,
  currency,
}: Pick<OrderTerms, 'shipping' | 'currency'>): InvoiceLine[] {
  if (shipping === null) return []
  const amount = lineAmount(new Money(shipping), currency)
  return [
    {
      type: 'shipping',
      itemId: null,
      planId: null,
      productId: null,
      description: 'Shipping',
      quantity: 1,
      unitPrice: amount,
      amount,
    },
  ]
}

/**
 * Returns the status that follows from what was paid, refunded and disputed, as of `at` in milliseconds. A draft, and a
 * voided or abandoned invoice, keeps its status.
 */
export function moneyStatus(invoice: Invoice, at: number): InvoiceStatus {
  const { status, isDisputed, amountPaid, amountRefunded, refundedWhileOpen, dueTime } = invoice
  const left = new Money(amountPaid).minus(amountRefunded)
  if (isOpen(invoice)) {
    if (status === 'unpaid' && left.greaterThan(0)) return 'partially-paid'
    if (status !== 'partially-paid' || left.greaterThan(0)) return status
    return dueTime !== null && pastDueTime(dueTime) <= at ? 'past-due' : 'unpaid'
  }
  if (!HOLDS_MONEY.has(status)) return status
  if (isDisputed) return 'disputed'
  // What was refunded before was paid anew.
  if (new Money(amountRefunded).lessThanOrEqualTo(refundedWhileOpen)) return 'paid'
  return left.greaterThan(0) ? 'partially-refunded' : 'refunded'
}

const HOLDS_MONEY: ReadonlySet<InvoiceStatus> = new Set([
  'paid',
  'refunded',
  'partially-refunded',
  'disputed',
])
