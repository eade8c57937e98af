/** How the current period of an order is billed, and what a part of it costs (decisions 6.3). */
import { canonicalJson } from './canonical-json.ts'
import { continued, discountOf, isShareOfLine, type RedeemedCoupon } from './coupons.ts'
import { discountParts, netAmount } from './discounts.ts'
import { type Invoice, type InvoiceLine, isLive, periodLines, pricedAt, renewalLines } from './invoices.ts'
import { Money, sumOfMoney } from './money.ts'
import { isPostpaid, type OrderTerms } from './order-terms.ts'
import {
  type BilledLine,
  billedWhole,
  changedBilling,
  creditLines,
  type DividedPeriod,
  grossAmount,
  isCredit,
  type PeriodChange,
  partLines,
  type UnusedSince,
  unusedRatio,
  usedTime,
} from './proration.ts'
import { lineTaxes, taxed, taxesAt } from './taxes.ts'

/** What prorated changes within a period have made of how it is billed. */
export interface ChangedPeriod {
  readonly number: number
  /** Of a period that was billed as it began: how it is billed since each change, oldest first. */
  readonly billed: readonly BilledSince[]
  /** Of a period that is billed at its end: the lines for the time before the last change. */
  readonly used: readonly InvoiceLine[]
  /** How much of the period these are for, in milliseconds. */
  readonly usedTime: number
  /** What was unused of the period at its last change; earlier releases kept none. */
  readonly since?: UnusedSince
}

interface BilledSince {
  readonly lines: readonly BilledLine[]
  /** The invoice of the change; null: its lines were queued. */
  readonly invoice: number | null
}

/** What proration reads of an order. */
export interface ServedOrder {
  readonly terms: OrderTerms
  readonly invoices: readonly Invoice[]
  readonly notBefore: number
  readonly inTrial: boolean
  readonly rebillNumber: number | null
  readonly periodStart: number | null
  readonly periodEnd: number | null
  readonly pauses: readonly {
    readonly status: string
    readonly effectiveTime: number
    readonly timeRemaining: number | null
  }[]
  readonly paused: { readonly period: number; readonly time: number } | null
  readonly changedPeriod: ChangedPeriod | null
}

/** Returns what other terms cost for the rest of the current period; null if nobody was billed for it. */
export function changedPart(order: ServedOrder, at: number, terms: OrderTerms): PeriodChange | null {
  const period = dividedPeriod(order, at)
  const before = billedLines(order)
  const invoice = billedInvoice(order)
  if (period === null || before === null || invoice === null) return null
  return changedBilling(before, pricesOf(order, { terms, at }, before, invoice), period, terms.currency)
}

/** Returns the credits of the rest of the current period; none if nobody was billed for it. */
export function unusedPart(order: ServedOrder, at: number): InvoiceLine[] {
  const period = dividedPeriod(order, at)
  const billed = billedLines(order)
  return period === null || billed === null ? [] : creditLines(billed, period, order.terms.currency)
}

/** Adds how the period is billed from an instant on. */
export function withBilling(order: ServedOrder, at: number, billed: BilledSince): ChangedPeriod {
  const known = changesOf(order)
  const period = dividedPeriod(order, at)
  return { ...known, billed: [...known.billed, billed], ...(period === null ? {} : unusedSince(period)) }
}

/** Adds what the time through an instant costs at the current prices. */
export function withUsedTime(order: ServedOrder, at: number): ChangedPeriod {
  const known = changesOf(order)
  const period = dividedPeriod(order, at)
  if (period === null) return known
  const to = usedTime(period)
  const lines = partLines(
    periodLines(order.terms, false),
    period,
    { from: known.usedTime, to },
    order.terms.currency,
  )
  return { ...known, used: [...known.used, ...lines], usedTime: to, ...unusedSince(period) }
}

function unusedSince(period: DividedPeriod): Required<Pick<ChangedPeriod, 'since'>> {
  return { since: { from: usedTime(period), ...unusedRatio(period) } }
}

/** Returns the lines of a period billed at its end, each time at its own prices; `through` null: to its end. */
export function endingLines(order: ServedOrder, through: number | null): InvoiceLine[] {
  const { terms, periodEnd } = order
  const { used, usedTime: from } = changesOf(order)
  const period = dividedPeriod(order, through ?? periodEnd ?? 0)
  if (period === null) return renewalLines(terms)
  const whole = period.end - period.start
  const to = through === null ? whole : usedTime(period)
  if (from === 0 && to === whole) return renewalLines(terms)
  const others = renewalLines(terms).filter(({ type }) => type !== 'plan')
  return [...used, ...partLines(periodLines(terms, false), period, { from, to }, terms.currency), ...others]
}

/** Returns the invoices that bill the current period, the latest first: those of its changes, then its own. */
export function billingInvoices(order: ServedOrder): Invoice[] {
  const own = billedInvoice(order)
  if (own === null) return []
  const changes = changesOf(order).billed.map(({ invoice }) => invoice)
  const ofChanges = order.invoices.filter(
    (invoice) => changes.includes(invoice.sequence) && isBilled(invoice),
  )
  return [...ofChanges.toReversed(), own]
}

export function isBilledAtEnd({ terms, inTrial }: Pick<ServedOrder, 'terms' | 'inTrial'>): boolean {
  return isPostpaid(terms) && !inTrial
}

function changesOf({ changedPeriod, rebillNumber }: ServedOrder): ChangedPeriod {
  const number = rebillNumber ?? 0
  return changedPeriod?.number === number ? changedPeriod : { number, billed: [], used: [], usedTime: 0 }
}

function billedLines(order: ServedOrder): readonly BilledLine[] | null {
  const invoice = billedInvoice(order)
  if (invoice === null || isBilledAtEnd(order)) return null
  const own = invoice.lines.filter((line) => isOfPeriod(order, line))
  const last = changesOf(order).billed.findLast((one) => isBilling(order, one.invoice))
  if (last === undefined) return billedWhole(own)
  // What stays is billed as its invoice has it now: that may have lost a discount for payment by a time since the change.
  return last.lines.flatMap((one) => {
    const isOwn = one.from === 0 && one.unused === undefined
    const same = isOwn ? own.findIndex((line) => isSameBeforeDiscount(line, one.line)) : -1
    return same < 0 ? [one] : billedWhole(own.splice(same, 1))
  })
}

function isBilling({ invoices }: ServedOrder, sequence: number | null): boolean {
  const invoice = invoices.find((one) => one.sequence === sequence)
  return invoice === undefined || isBilled(invoice)
}

/**
 * Prices other terms with the discounts of the period's invoice, and with the rates by which an item was billed. What stays
 * keeps its discount, even a canceled one, and its taxes; a fixed amount is divided anew.
 */
function pricesOf(
  order: ServedOrder,
  { terms, at }: { readonly terms: OrderTerms; readonly at: number },
  before: readonly BilledLine[],
  invoice: Invoice,
): readonly InvoiceLine[] {
  const coupons = continuedCoupons(order, terms, invoice)
  const isCanceled = coupons.length < invoice.discounts.length
  const isKept = isCanceled || coupons.every(isShareOfLine) ? isSameBeforeDiscount : isSameUntaxed
  const known = before.map(({ line }) => line)
  return discountedLines(order, { ...terms, coupons }, invoice, isCanceled).flatMap((line) => {
    const same = known.findIndex((one) => isKept(one, line))
    if (same >= 0) return known.splice(same, 1)
    const billed = before.find((one) => one.line.itemId === line.itemId && one.line.planId === line.planId)
    const rates = billed === undefined ? taxesAt(terms.taxes, at) : lineTaxes(billed.line)
    return taxed([line], [netAmount(line)], rates, terms.currency)
  })
}

/** Returns the coupons of the invoice that are still redeemed, as they reduce what is billed for the period. */
function continuedCoupons(order: ServedOrder, { coupons }: OrderTerms, invoice: Invoice): RedeemedCoupon[] {
  const { discounts, lines } = invoice
  const redeemed = coupons.filter(({ redemptionId }) =>
    discounts.some((discount) => discount.redemptionId === redemptionId),
  )
  const known = redeemed.map((coupon) => discountOf(coupon, order.terms.items))
  const parts = discountParts(invoice, known, order.terms.currency)
  return redeemed.map((coupon) => {
    const ofPeriod = lines.flatMap((line, index) =>
      isOfPeriod(order, line) ? (parts.get(coupon.redemptionId)?.[index] ?? []) : [],
    )
    return continued(coupon, sumOfMoney(ofPeriod))
  })
}

/** Returns the lines of a period. Those of what its invoice billed have the discounts of that to the cent. */
function discountedLines(
  order: ServedOrder,
  terms: OrderTerms,
  invoice: Invoice,
  isCanceled: boolean,
): readonly InvoiceLine[] {
  const { inTrial, invoices, notBefore } = order
  const given = { terms: { ...terms, taxes: null }, invoices }
  const asked = periodLines(terms, inTrial)
  const { lines } = pricedAt(given, asked, invoice.issuedTime ?? notBefore, invoice.sequence)
  if (isCanceled) return lines
  const billed = invoice.lines.filter((line) => isOfPeriod(order, line))
  const rest = [...billed]
  const isBilled = asked.every((line) => {
    const same = rest.findIndex((one) => isSameBeforeDiscount(one, line))
    return same >= 0 && rest.splice(same, 1).length > 0
  })
  return isBilled && rest.length === 0 ? billed : lines
}

function isOfPeriod({ inTrial }: Pick<ServedOrder, 'inTrial'>, { type }: InvoiceLine): boolean {
  return type === (inTrial ? 'trial' : 'plan')
}

function isSameUntaxed({ taxes: _, ...one }: InvoiceLine, { taxes: __, ...other }: InvoiceLine): boolean {
  return canonicalJson(one) === canonicalJson(other)
}

function isSameBeforeDiscount(
  { discount: _, ...one }: InvoiceLine,
  { discount: __, ...other }: InvoiceLine,
): boolean {
  return isSameUntaxed(one, other)
}

/** Returns the period without the time paused; that of a paused order stands still. */
function dividedPeriod(order: ServedOrder, at: number): DividedPeriod | null {
  const { periodStart, periodEnd, pauses, paused, rebillNumber } = order
  if (periodStart === null || periodEnd === null) return null
  const pause = pauses.find(({ status }) => status === 'ongoing')
  const now = pause?.effectiveTime ?? at
  const end = pause?.timeRemaining == null ? periodEnd : now + pause.timeRemaining
  const lost = paused !== null && paused.period === rebillNumber ? paused.time : 0
  const { since } = changesOf(order)
  return { start: periodStart + lost, end, at: now, ...(since === undefined ? {} : { since }) }
}

/** Returns the invoice of the current period; null if its amount was waived or refunded. */
function billedInvoice({ invoices, rebillNumber }: ServedOrder): Invoice | null {
  return invoices.find((one) => one.periodNumber === rebillNumber && isBilled(one)) ?? null
}

/** False if the invoice was waived or refunded. A refund that paid credit back has returned nothing of the period (ADR 90). */
function isBilled(invoice: Invoice): boolean {
  if (invoice.status !== 'refunded') return isLive(invoice)
  const ofPeriod = refundedOf(invoice).plus(Money.min(0, invoice.amountCredited))
  return ofPeriod.lessThan(worthOf(invoice))
}

/** What is paid for an invoice, or owed: its amount, and the queued credit that reduced it. */
export function worthOf({ status, amount, lines }: Invoice): Money {
  if (!isLive({ status })) return new Money(0)
  const drawn = lines.filter((line) => line.isQueued === true && isCredit(line.amount))
  return new Money(amount).minus(grossAmount(drawn))
}

/** What was refunded while the invoice was open was owed again, and has been paid since or is still owed. */
export function refundedOf({
  status,
  amountRefunded,
  refundedWhileOpen,
}: Pick<Invoice, 'status' | 'amountRefunded' | 'refundedWhileOpen'>): Money {
  return isLive({ status }) ? new Money(amountRefunded).minus(refundedWhileOpen) : new Money(0)
}
