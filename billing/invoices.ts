/** Invoices of an order: their lines, due times and amounts. */
import { canonicalJson } from './canonical-json.ts'
import { discountsAt } from './coupons.ts'
import { type CreditAllocation, creditedAmount } from './credit-memos.ts'
import { type InvoiceDiscount, type Priced, priced } from './discounts.ts'
import type { Decline } from './dunning.ts'
import { type Duration, reach } from './durations.ts'
import { LATEST_INSTANT, orNever } from './instants.ts'
import { isZero, lineAmount, Money } from './money.ts'
import { isPostpaid, type OrderTerms, type PricedItem, shifted } from './order-terms.ts'
import { type PricePart, priceParts } from './pricing.ts'

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

/** `interim`: what a change of items costs within a period. */
export type InvoiceType = 'initial' | 'renewal' | 'interim'

export interface InvoiceLine {
  /**
   * `plan` is for a period of service, `one-time` for a one-time sale, `proration` for a part of a period: a credit, whose
   * amount is negative, or a debit.
   */
  readonly type: 'setup' | 'trial' | 'plan' | 'one-time' | 'shipping' | 'proration'
  /** The item of the order; null for shipping. */
  readonly itemId: string | null
  readonly planId: string | null
  readonly productId?: string | null
  readonly description: string
  readonly quantity: number
  /** Exact, in the currency's units; lines written before it was kept have none. */
  readonly unitPrice?: string
  /** Exact, in the currency's units: the quantity at the unit price. */
  readonly amount: string
  /** What discounts take off the amount; left out where they take nothing. */
  readonly discount?: string
  /** Of a proration: the time that it is for. */
  readonly periodStart?: number
  readonly periodEnd?: number
  /** True if the line was queued before the invoice was made. Left out otherwise. */
  readonly isQueued?: true
}

/** A charge whose outcome is unknown. Until it is known, no other charge of the invoice starts. */
export interface OpenCharge {
  /** True if the order makes it automatically, false if a caller does. */
  readonly isOwn: boolean
  /** When it counts as made. */
  readonly at: number
  /** The result so far: `none` yet, `unknown`, or `timed-out` after a day, when it counts as declined. */
  readonly answer: 'none' | 'unknown' | 'timed-out'
  /** When the gateway is asked for its outcome; null: another workflow asks, or inquiries have ended. */
  readonly askTime: number | null
}

export interface Invoice {
  /** Counts an order's invoices from 1. */
  readonly sequence: number
  readonly type: InvoiceType
  readonly status: InvoiceStatus
  readonly lines: readonly InvoiceLine[]
  readonly discounts: readonly InvoiceDiscount[]
  /** The sum of the lines less the discounts. */
  readonly amount: string
  /** The period of service it covers, half-open; null where nothing recurs, or before activation. */
  readonly periodNumber: number | null
  readonly periodStart: number | null
  readonly periodEnd: number | null
  readonly issuedTime: number | null
  readonly dueTime: number | null
  readonly delinquencyTime: number | null
  readonly paidTime: number | null
  readonly voidedTime: number | null
  readonly abandonedTime: number | null
  /** When a charge of it is due; null: none is automatic. */
  readonly chargeTime: number | null
  readonly attempts: number
  /** When the first charge was declined, or timed out; retries count from it. */
  readonly declinedTime: number | null
  /** One for each instrument that was declined for it since a new one was last given, the latest last. */
  readonly declines: readonly Decline[]
  readonly charge: OpenCharge | null
  /** Exact; refunds are not subtracted. */
  readonly amountPaid: string
  readonly amountRefunded: string
  /** What credit memos cover of the amount. */
  readonly credits: readonly CreditAllocation[]
  readonly isDisputed: boolean
}

/**
 * Returns the lines of the initial invoice: setup, then the trial or first period, one-time sales, shipping. Periods of a
 * postpaid order are billed at their ends, and shipping with them.
 */
export function initialLines(terms: OrderTerms): InvoiceLine[] {
  const setups = terms.items.flatMap((item) =>
    item.plan.setup === null ? [] : [itemLine(terms, item, 'setup', item.plan.setup.price)],
  )
  const served = terms.items.flatMap((item) =>
    isOneTime(item) || (terms.trial === null && !isPostpaid(terms))
      ? planLines(terms, item)
      : terms.trial === null
        ? []
        : [itemLine(terms, item, 'trial', item.plan.trial?.price ?? '0')],
  )
  return [...setups, ...served, ...(isPostpaid(terms) ? [] : shippingLine(terms))]
}

export function renewalLines(terms: OrderTerms): InvoiceLine[] {
  const recurring = terms.items.filter((item) => !isOneTime(item))
  return [...recurring.flatMap((item) => planLines(terms, item)), ...shippingLine(terms)]
}

/**
 * Returns lines with the discounts of an order's coupons, for its invoice with that sequence made at an instant. A
 * coupon that has expired by then does not apply.
 */
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
    at,
    (redemptionId) =>
      others.filter((one) => one.discounts.some((discount) => discount.redemptionId === redemptionId)).length,
  )
  return priced(lines, discounts, terms.currency)
}

/** Returns the lines of the one-time sales among some items of an order. */
export function oneTimeLines(terms: OrderTerms, items: readonly PricedItem[]): InvoiceLine[] {
  return items.filter(isOneTime).flatMap((item) => planLines(terms, item))
}

/**
 * Returns what the items cost for a period under the terms: the trial, or a period of service. Without what is charged
 * once or by delivery.
 */
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
    credits: [],
    isDisputed: false,
  }
}

/**
 * Returns a draft as issued at `at` and charged at the boundary `chargedAt`. It is due after the later of
 * both; one of which nothing is due, because its amount is zero or credit covers it, is paid at once.
 */
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

/**
 * Returns the due and delinquency times of an invoice that is charged at `at` because the service was late.
 * The time between both stays, whatever later terms say.
 */
export function dueWhenLate(
  invoice: Invoice,
  terms: OrderTerms,
  at: number,
): Pick<Invoice, 'dueTime' | 'delinquencyTime'> {
  const dueTime = dueAfter(terms, at, at)
  const { delinquencyTime } = invoice
  return {
    dueTime,
    delinquencyTime:
      delinquencyTime === null ? null : orNever(delinquencyTime + dueTime - (invoice.dueTime ?? dueTime)),
  }
}

/**
 * Returns the due and delinquency times of an issued invoice whose terms have changed: each follows the member that
 * changed, and no other.
 */
export function dueUnder(
  { issuedTime, dueTime, delinquencyTime }: Invoice,
  before: OrderTerms,
  terms: OrderTerms,
): Pick<Invoice, 'dueTime' | 'delinquencyTime'> {
  const since = issuedTime ?? terms.startTime
  const moved = dueAfter(terms, since, since) - dueAfter(before, since, since)
  const isPeriodNew = canonicalJson(terms.delinquencyPeriod) !== canonicalJson(before.delinquencyPeriod)
  if (dueTime === null || (moved === 0 && !isPeriodNew)) return { dueTime, delinquencyTime }
  const due = Math.min(Math.max(dueTime + moved, terms.startTime), LATEST_INSTANT)
  return { dueTime: due, delinquencyTime: delinquentAfter(due, terms.delinquencyPeriod) }
}

/** Returns when a renewal invoice is issued before its boundary; null: at the boundary. */
export function earlyIssue(terms: OrderTerms, boundary: number): number | null {
  const shift = terms.invoiceTimeShift?.issueTimeShift
  if (shift == null || shift.duration === 0) return null
  return shifted(boundary, { ...shift, chronology: 'before' })
}

/** Returns when the invoice is charged automatically, or the time of that charge until its outcome is known; null: never. */
export function autopayScheduledTime({
  chargeTime,
  charge,
}: Pick<Invoice, 'chargeTime' | 'charge'>): number | null {
  if (chargeTime !== null) return chargeTime
  return charge?.isOwn === true && charge.answer !== 'timed-out' ? charge.at : null
}

/** Returns when an invoice is past due: a day after it was due. */
export function pastDueTime(dueTime: number): number {
  return dueTime + DAY
}

/** Returns the amount still to be paid of a draft or open invoice; zero for any other. */
export function amountDue(
  invoice: Pick<Invoice, 'status' | 'amount' | 'amountPaid' | 'amountRefunded' | 'credits'>,
): string {
  if (invoice.status !== 'draft' && !isOpen(invoice)) return '0'
  const { amount, amountPaid, amountRefunded, credits } = invoice
  return new Money(amount).minus(creditedAmount(credits)).minus(amountPaid).plus(amountRefunded).toFixed()
}

/** True if no charge of the invoice was made, is in progress or is planned. */
export function isUncharged({ charge, chargeTime, declinedTime }: Invoice): boolean {
  return charge === null && chargeTime === null && declinedTime === null
}

/** True unless the invoice was voided or abandoned. */
function isLive({ status }: Pick<Invoice, 'status'>): boolean {
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

export function isOneTime({ plan }: Pick<PricedItem, 'plan'>): boolean {
  return plan.recurringInterval === null && plan.trial === null
}

function planLines(terms: OrderTerms, item: PricedItem): InvoiceLine[] {
  const { id, plan } = item
  const parts = priceParts(plan.pricing, item.quantity)
  return parts.map((part) => ({
    type: isOneTime(item) ? 'one-time' : 'plan',
    itemId: id,
    planId: plan.id,
    productId: plan.productId ?? null,
    description: `${plan.name}${unitsOf(part, parts.length > 1)}`,
    quantity: part.quantity,
    unitPrice: part.unitPrice,
    amount: lineAmount(new Money(part.unitPrice).times(part.quantity), terms.currency),
  }))
}

/** Returns which units a line is for, where its quantity does not say so. */
function unitsOf({ quantity, units: [from, through] }: PricePart, isOneOfSeveral: boolean): string {
  if (isOneOfSeveral) return from === through ? ` (unit ${from})` : ` (units ${from} to ${through})`
  return quantity === through ? '' : ` (${through} units)`
}

function itemLine(
  terms: OrderTerms,
  { id, plan }: PricedItem,
  type: 'setup' | 'trial',
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

function shippingLine({ shipping, currency }: OrderTerms): InvoiceLine[] {
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

/** Returns the status that follows from an invoice's payments, refunds and disputes at an instant. */
export function moneyStatus(invoice: Invoice, at: number): InvoiceStatus {
  const { status, isDisputed, amountPaid, amountRefunded, dueTime } = invoice
  const left = new Money(amountPaid).minus(amountRefunded)
  if (isOpen(invoice)) {
    if (status !== 'partially-paid' || left.greaterThan(0)) return status
    return dueTime !== null && pastDueTime(dueTime) <= at ? 'past-due' : 'unpaid'
  }
  if (!HOLDS_MONEY.has(status)) return status
  if (isDisputed) return 'disputed'
  if (new Money(amountRefunded).isZero()) return 'paid'
  return left.greaterThan(0) ? 'partially-refunded' : 'refunded'
}

const HOLDS_MONEY: ReadonlySet<InvoiceStatus> = new Set([
  'paid',
  'refunded',
  'partially-refunded',
  'disputed',
])
