/** Invoices of an order: their lines, and the instants at which time acts on them. */
import { type Duration, reach } from './durations.ts'
import { isZero, lineAmount, Money, sumOf } from './money.ts'
import { type OrderTerms, type PricedItem, shifted } from './order-terms.ts'
import { priceOf } from './pricing.ts'

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

export type InvoiceType = 'initial' | 'renewal'

export interface InvoiceLine {
  readonly type: 'setup' | 'trial' | 'plan' | 'shipping'
  /** The order's item it stands for; null for shipping. */
  readonly itemId: string | null
  readonly planId: string | null
  readonly description: string
  readonly quantity: number
  /** Exact, in the currency's units. */
  readonly amount: string
}

/** A charge whose outcome is not known. No other charge of its invoice starts before it is. */
export interface OpenCharge {
  /** Whether the order makes it by itself; else a caller does. */
  readonly isOwn: boolean
  /** When it counts as made. */
  readonly at: number
  /** What is known of it: nothing yet, that nobody knows, or that a day has passed so and it counts as declined. */
  readonly answer: 'none' | 'unknown' | 'timed-out'
  /** When the gateway is asked for its outcome; null: others ask, or nobody does any more. */
  readonly askTime: number | null
}

export interface Invoice {
  /** Counts an order's invoices from 1: together with the order it names one. */
  readonly sequence: number
  readonly type: InvoiceType
  readonly status: InvoiceStatus
  readonly lines: readonly InvoiceLine[]
  /** The sum of its lines. */
  readonly amount: string
  /** Service it bills, half-open; null where nothing recurs or nothing is known yet. */
  readonly periodNumber: number | null
  readonly periodStart: number | null
  readonly periodEnd: number | null
  readonly issuedTime: number | null
  readonly dueTime: number | null
  readonly delinquencyTime: number | null
  readonly paidTime: number | null
  readonly voidedTime: number | null
  /** When a charge of it is due; null: not by itself. */
  readonly chargeTime: number | null
  /** Charges the order has made by itself. */
  readonly attempts: number
  /** When the first of them was declined, or counted as that; retries count from it. */
  readonly declinedTime: number | null
  readonly charge: OpenCharge | null
  /** Exact; what came in, refunds not taken off. */
  readonly amountPaid: string
  readonly amountRefunded: string
  readonly isDisputed: boolean
}

/** Lines of the first invoice: setup, then the trial or the first period, one-time sales, shipping. */
export function initialLines(terms: OrderTerms): InvoiceLine[] {
  const setups = terms.items.flatMap((item) =>
    item.plan.setup === null ? [] : [itemLine(terms, item, 'setup', item.plan.setup.price)],
  )
  const served = terms.items.map((item) =>
    terms.trial === null || isOneTime(item)
      ? planLine(terms, item)
      : itemLine(terms, item, 'trial', item.plan.trial?.price ?? '0'),
  )
  return [...setups, ...served, ...shippingLine(terms)]
}

/** Lines of every later invoice: what recurs, and shipping. */
export function renewalLines(terms: OrderTerms): InvoiceLine[] {
  const recurring = terms.items.filter((item) => !isOneTime(item))
  return [...recurring.map((item) => planLine(terms, item)), ...shippingLine(terms)]
}

/** An invoice nobody owes yet. */
export function draftInvoice(
  sequence: number,
  type: InvoiceType,
  lines: readonly InvoiceLine[],
  period: Pick<Invoice, 'periodNumber' | 'periodStart' | 'periodEnd'>,
): Invoice {
  return {
    sequence,
    type,
    status: 'draft',
    lines,
    amount: sumOf(lines.map(({ amount }) => amount)),
    ...period,
    issuedTime: null,
    dueTime: null,
    delinquencyTime: null,
    paidTime: null,
    voidedTime: null,
    chargeTime: null,
    attempts: 0,
    declinedTime: null,
    charge: null,
    amountPaid: '0',
    amountRefunded: '0',
    isDisputed: false,
  }
}

/**
 * A draft as it is once issued at `at` and charged at the boundary `chargedAt`: due after the later of both, and paid at
 * once where nothing is to be paid.
 */
export function issued(invoice: Invoice, terms: OrderTerms, at: number, chargedAt: number): Invoice {
  if (isZero(invoice.amount)) {
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
 * When an invoice is due that is charged at `at` because the service was late, and when delinquent: as long after that as it
 * would have been, whatever the terms say of later invoices.
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
      delinquencyTime === null ? null : delinquencyTime + dueTime - (invoice.dueTime ?? dueTime),
  }
}

/** When a renewal invoice of the boundary is issued; null where that is at the boundary itself. */
export function earlyIssue(terms: OrderTerms, boundary: number): number | null {
  const shift = terms.invoiceTimeShift?.issueTimeShift
  if (shift == null || shift.duration === 0) return null
  return shifted(boundary, { ...shift, chronology: 'before' })
}

/** When an invoice is past due: a day after it was due. */
export function pastDueTime(dueTime: number): number {
  return dueTime + DAY
}

/** What is still to be paid of an invoice that is open or a draft; of any other, nothing. */
export function amountDue(
  invoice: Pick<Invoice, 'status' | 'amount' | 'amountPaid' | 'amountRefunded'>,
): string {
  if (invoice.status !== 'draft' && !isOpen(invoice)) return '0'
  const { amount, amountPaid, amountRefunded } = invoice
  return new Money(amount).minus(amountPaid).plus(amountRefunded).toFixed()
}

/** Whether no charge of an invoice was made, is under way or is planned. */
export function isUncharged({ charge, chargeTime, declinedTime }: Invoice): boolean {
  return charge === null && chargeTime === null && declinedTime === null
}

/** Issued and neither paid nor ended. */
export function isOpen({ status }: Pick<Invoice, 'status'>): boolean {
  return status === 'unpaid' || status === 'past-due' || status === 'partially-paid'
}

const DAY = 86_400_000
const HOUR = 3_600_000

function dueAfter(terms: OrderTerms, at: number, chargedAt: number): number {
  const shift = terms.invoiceTimeShift?.dueTimeShift
  const after = shift == null ? at + HOUR : (shifted(at, { ...shift, chronology: 'after' }) ?? at + HOUR)
  return Math.max(after, chargedAt)
}

function delinquentAfter(dueTime: number, period: Duration | null): number | null {
  return period === null ? null : reach(dueTime, period)
}

function isOneTime({ plan }: PricedItem): boolean {
  return plan.recurringInterval === null && plan.trial === null
}

function planLine(terms: OrderTerms, item: PricedItem): InvoiceLine {
  const { id, quantity, plan } = item
  const amount = priceOf(plan.pricing, quantity, terms.currency)
  return { type: 'plan', itemId: id, planId: plan.id, description: plan.name, quantity, amount }
}

function itemLine(
  terms: OrderTerms,
  { id, plan }: PricedItem,
  type: 'setup' | 'trial',
  price: string,
): InvoiceLine {
  const amount = lineAmount(new Money(price), terms.currency)
  return { type, itemId: id, planId: plan.id, description: `${plan.name}: ${type}`, quantity: 1, amount }
}

function shippingLine({ shipping, currency }: OrderTerms): InvoiceLine[] {
  if (shipping === null) return []
  const amount = lineAmount(new Money(shipping), currency)
  return [{ type: 'shipping', itemId: null, planId: null, description: 'Shipping', quantity: 1, amount }]
}
