import { netAmount } from './discounts.ts'
import { type Invoice, type InvoiceLine, type InvoiceStatus, periodLines, pricedAt } from './invoices.ts'
import type { Order } from './order.ts'
import { isPostpaid, type OrderTerms } from './order-terms.ts'
import { withPeriodTaxes } from './period-taxes.ts'
import { changeLines, changeLinesInArrears, creditLines, type DividedPeriod } from './proration.ts'

/**
 * Prices other terms for the rest of the period (decisions 6.3); nothing for a period nobody was billed for.
 * A postpaid period will be billed as a whole under the new terms, which the lines correct.
 */
export function changedPart(order: Order, at: number, terms: OrderTerms): InvoiceLine[] {
  const period = dividedPeriod(order, at)
  const [before, after] = [taxedPrices(order, at, order.terms), taxedPrices(order, at, terms)]
  if (period === null || before === null || after === null) return []
  const linesOf = isBilledAtEnd(order) ? changeLinesInArrears : changeLines
  return linesOf(before, after, period, terms.currency)
}

/** Returns the rest of the current period as credits; nothing for a period nobody was billed for. */
export function unusedPart(order: Order, at: number): InvoiceLine[] {
  const period = dividedPeriod(order, at)
  const prices = taxedPrices(order, at, order.terms)
  return period === null || prices === null ? [] : creditLines(prices, period, order.terms.currency)
}

function taxedPrices(order: Order, at: number, terms: OrderTerms): readonly InvoiceLine[] | null {
  const prices = netPrices(order, at, terms)
  const billed = isBilledAtEnd(order) ? null : billedInvoice(order)
  return prices && withPeriodTaxes(prices, { ...order, terms }, billed, at)
}

/** Uses the discounts of the period's invoice, or of one made now if billed at its end. Null: nobody is billed. */
function netPrices(order: Order, at: number, terms: OrderTerms): readonly InvoiceLine[] | null {
  const { invoices, inTrial, nextInvoice, notBefore } = order
  const lines = periodLines(terms, inTrial)
  if (isBilledAtEnd(order)) return netOf(pricedAt({ terms, invoices }, lines, at, nextInvoice).lines)
  const billed = billedInvoice(order)
  if (billed === null) return null
  const coupons = terms.coupons.filter(({ redemptionId }) =>
    billed.discounts.some((discount) => discount.redemptionId === redemptionId),
  )
  const then = billed.issuedTime ?? notBefore
  return netOf(pricedAt({ terms: { ...terms, coupons }, invoices }, lines, then, billed.sequence).lines)
}

function netOf(lines: readonly InvoiceLine[]): InvoiceLine[] {
  return lines.map((line) => {
    const { discount: _, ...plain } = line
    return { ...plain, amount: netAmount(line) }
  })
}

function isBilledAtEnd({ terms, inTrial }: Order): boolean {
  return isPostpaid(terms) && !inTrial
}

/** Leaves out the time that the period was paused; that of a paused order stands still. */
function dividedPeriod(order: Order, at: number): DividedPeriod | null {
  const { periodStart, periodEnd, pauses, paused, rebillNumber } = order
  if (periodStart === null || periodEnd === null) return null
  const pause = pauses.find(({ status }) => status === 'ongoing')
  const now = pause?.effectiveTime ?? at
  const end = pause?.timeRemaining == null ? periodEnd : now + pause.timeRemaining
  const lost = paused !== null && paused.period === rebillNumber ? paused.time : 0
  return { start: periodStart + lost, end, at: now }
}

/** Returns null if the amount was waived or refunded. */
function billedInvoice({ invoices, rebillNumber }: Order): Invoice | null {
  return (
    invoices.find(({ periodNumber, status }) => periodNumber === rebillNumber && !UNBILLED.has(status)) ??
    null
  )
}

const UNBILLED: ReadonlySet<InvoiceStatus> = new Set(['voided', 'abandoned', 'refunded'])
