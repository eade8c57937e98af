import { canonicalJson } from './canonical-json.ts'
import { ConflictError } from './errors.ts'
import { addedSales, isLive, periodLines, pricedAt, renewalLines, withoutReturned } from './invoices.ts'
import { isZero, Money } from './money.ts'
import {
  type Change,
  changeInvoice,
  emit,
  enqueue,
  enqueueCredit,
  isComing,
  isLastPeriod,
  issueEnding,
  issueInterim,
  issueRenewal,
  type Order,
  requireStatus,
  set,
  setTerms,
  type Transition,
  transition,
  voidComing,
} from './order.ts'
import { upcomingInvoice } from './order-lifecycle.ts'
import { isPostpaid, type OrderTerms } from './order-terms.ts'
import { anchorFrom, endOfPeriod } from './periods.ts'
import { changedPart, isBilledAtEnd, unusedPart, withBilling, withUsedTime } from './prorated-periods.ts'
import { grossAmount } from './proration.ts'
import { pricePerYear } from './recurring-revenue.ts'

/** `retain` keeps the boundary, `reset` begins a new period at once. */
export type RenewalPolicy = 'retain' | 'reset'

export interface ItemsChange {
  readonly terms: OrderTerms
  /** False: the new items are billed from the next invoice on. */
  readonly prorated: boolean
  readonly renewalPolicy: RenewalPolicy
}

/**
 * Changes the items (decisions 6.1, 6.3). Proration credits the unused part of the period, and debits the rest at
 * the new prices: charged at once on an invoice of its own, or queued if it is a credit or the order is paused.
 * An invoice of the coming period that is issued already is void then, and issued again at the new prices, unless what was
 * paid for it has gone back.
 * Added one-time sales, and more units of them, are billed with that, or with the next invoice; where none follows, at
 * once. Those that still wait for an invoice are taken back with their items. A reset bills a whole new period at once.
 * @throws ConflictError unless active or paused, and for a reset without a further period.
 */
export function changeItems(
  order: Order,
  at: number,
  { terms, prorated, renewalPolicy }: ItemsChange,
): Transition {
  requireStatus(order, ['active', 'paused'], 'changed')
  const isReset = renewalPolicy === 'reset'
  if (isReset) requireNextPeriod(order, terms)
  const added = addedSales(terms, order.terms.items)
  return transition(order, at, 'api', (change) => {
    emit(change, 'subscription-items-changed')
    emitDirection(change, order.terms, terms)
    const isBilledAnew = canonicalJson(renewalLines(terms)) !== canonicalJson(renewalLines(order.terms))
    if (isReset || (prorated && isBilledAnew && !isWaived(order))) billComingAnew(change)
    set(change, { queue: withoutReturned(change.order.queue, terms, order.terms.items) })
    if (isReset) {
      if (prorated) enqueueCredit(change, unusedPart(order, at))
      // What a postpaid order has served is billed at the old prices.
      issueEnding(change, prorated ? at : null)
      setTerms(change, terms)
      enqueue(change, added)
      beginPeriodNow(change)
      return
    }
    setTerms(change, terms)
    if (prorated) billChange(change, order, added)
    else if (isInvoicedLater(change.order)) enqueue(change, added)
    else charge(change, [], added)
  })
}

/** True if what was paid for a period ahead has gone back: another invoice of it would take it once more. */
function isWaived(order: Order): boolean {
  return order.invoices.some((one) => isComing(order, one) && isLive(one) && !isZero(one.amountRefunded))
}

/** What is issued for periods ahead is void; it is issued again under the terms of then, in its time or now. */
function billComingAnew(change: Change): void {
  const before = change.order.invoicedThrough
  voidComing(change)
  if (change.order.invoicedThrough !== before) set(change, { notBefore: change.at })
}

/** Bills what the new terms cost for the rest of the period, and added one-time sales. */
function billChange(change: Change, before: Order, added: Order['queue']): void {
  const { order, at } = change
  if (isBilledAtEnd(before)) {
    const [old, fresh] = [before.terms, order.terms].map((terms) => canonicalJson(periodLines(terms, false)))
    if (old !== fresh) set(change, { changedPeriod: withUsedTime(before, at) })
    charge(change, [], added)
    return
  }
  const part = changedPart(before, at, order.terms)
  const invoice = charge(change, part?.lines ?? [], added)
  if (part !== null) set(change, { changedPeriod: withBilling(before, at, { lines: part.billed, invoice }) })
}

/** Returns the invoice on which a debit for the rest of the period is charged; null: it is a credit, or not owed now, and queued. */
function charge(change: Change, ofPeriod: Order['queue'], added: Order['queue']): number | null {
  const { order, at } = change
  const lines = [...ofPeriod, ...added]
  const isOwed = new Money(
    pricedAt(order, [...order.queue, ...lines], at, order.nextInvoice).amount,
  ).greaterThan(0)
  const isDue = isOwed || (added.length > 0 && !isInvoicedLater(order))
  if (order.status !== 'active' || isPostpaid(order.terms) || lines.length === 0 || !isDue) {
    enqueueCredit(change, ofPeriod)
    enqueue(change, added)
    return null
  }
  const isQueued = grossAmount(ofPeriod).isNegative()
  if (isQueued) enqueueCredit(change, ofPeriod)
  const own = isQueued ? added : lines
  const sequence = issueInterim(change, own)
  return isQueued ? null : sequence
}

/** What a paused order owes waits until that ends. */
function isInvoicedLater(order: Order): boolean {
  return order.status === 'paused' || upcomingInvoice(order) !== null
}

function beginPeriodNow(change: Change): void {
  const { at, order } = change
  const { interval } = order.terms
  if (interval === null) return
  for (const { sequence, periodNumber, status, periodEnd } of change.order.invoices) {
    if (periodNumber !== order.rebillNumber || status === 'voided' || periodEnd === null) continue
    changeInvoice(change, sequence, { periodEnd: at })
  }
  const number = (order.rebillNumber ?? 0) + 1
  set(change, { inTrial: false, rebillNumber: number, periodStart: at, ...anchorFrom(interval, at, number) })
  // A price that was given up ahead was that of the period which does not come any more.
  set(change, { invoicedThrough: number - 1 })
  set(change, {
    periodEnd: endOfPeriod(change.order, number),
    remindersFrom: at,
    remindersSent: { ...order.remindersSent, renewal: 0 },
  })
  emit(change, order.inTrial ? 'subscription-trial-ended' : 'subscription-renewed')
  if (!isPostpaid(order.terms)) issueRenewal(change, number, at)
}

function emitDirection(change: Change, before: OrderTerms, after: OrderTerms): void {
  const [was, is] = [pricePerYear(before), pricePerYear(after)]
  if (is.greaterThan(was)) emit(change, 'subscription-upgraded')
  else if (is.lessThan(was)) emit(change, 'subscription-downgraded')
}

function requireNextPeriod(order: Order, terms: OrderTerms): void {
  requireStatus(order, ['active'], 'reset')
  if (!order.inTrial && isLastPeriod({ terms, rebillNumber: order.rebillNumber })) {
    throw new ConflictError('The order has no further service period.')
  }
  if (terms.interval === null) throw new ConflictError('The order has no service period to begin.')
}
