/** Commands on an order, which must have been advanced to the instant. */
import { canonicalJson } from './canonical-json.ts'
import { awaitsUndo, nextRetry } from './charging.ts'
import { withoutUnpaid } from './discounts.ts'
import { ConflictError, refuse } from './errors.ts'
import { amountDue, dueAt, dueUnder, type Invoice, initialLines, isOpen, pricedAt } from './invoices.ts'
import { isZero, Money } from './money.ts'
import {
  type CancelCategory,
  type CanceledBy,
  type Change,
  changeInvoice,
  emit,
  hasNextPeriod,
  initialIssue,
  isLastPeriod,
  isServed,
  issueRenewal,
  keepCredit,
  moveBoundary,
  type Order,
  ongoingPause,
  releaseCredit,
  requireStatus,
  set,
  setTerms,
  type Transition,
  transition,
  useCredit,
  voidAll,
  voidComing,
  voidInvoices,
} from './order.ts'
import { churn } from './order-lifecycle.ts'
import { changeAutopay, payInvoice, requireNoCharge } from './order-payments.ts'
import { isPostpaid, type OrderTerms } from './order-terms.ts'
import { changePause, endPauses } from './pauses.ts'
import { anchorFrom, endOfPeriod } from './periods.ts'
import { keptTaxes, taxesAt } from './taxes.ts'

export const CHURN_TIME_POLICIES = ['now', 'at-next-renewal'] as const
export type ChurnTimePolicy = (typeof CHURN_TIME_POLICIES)[number]

export interface Cancellation {
  /** null or in the past: at once. */
  readonly churnTime: number | null
  /** Decides instead of `churnTime` unless it is null. */
  readonly churnTimePolicy: ChurnTimePolicy | null
  readonly canceledBy: Exclude<CanceledBy, 'rebilly-side'>
  readonly reason: CancelCategory | null
  readonly description: string | null
  readonly prorated?: boolean
}

/**
 * Ends service at the churn time. Until then periods are issued and charged; declined invoices are not retried.
 * @throws InvalidFieldsError for an end at a missing renewal; ConflictError unless active or paused.
 */
export function cancelOrder(order: Order, at: number, cancellation: Cancellation): Transition {
  requireStatus(order, ['active', 'paused'], 'canceled')
  return transition(order, at, 'api', (change) => {
    endPauses(change)
    const churnTime = churnTimeOf(change.order, at, cancellation)
    const { prorated: proratesChurn = false } = cancellation
    set(change, { status: 'canceled', canceledTime: at, churnTime, proratesChurn, ...reasonOf(cancellation) })
    emit(change, 'subscription-canceled')
    if (!hasNextPeriod(change.order)) voidComing(change)
    if (churnTime === at) churn(change)
  })
}

/**
 * Changes who canceled an order, why, and, before its churn time, when service ends.
 * @throws InvalidFieldsError as `cancelOrder`; ConflictError unless its merchant or customer canceled it.
 */
export function changeCancellation(
  order: Order,
  at: number,
  cancellation: Omit<Cancellation, 'churnTime' | 'churnTimePolicy'>,
  end: Pick<Cancellation, 'churnTime' | 'churnTimePolicy'> | null,
): Transition {
  requireStatus(order, ['canceled', 'churned'], 'changed')
  if (order.canceledBy === 'rebilly-side') throw new ConflictError('The order was canceled for delinquency.')
  return transition(order, at, 'api', (change) => {
    set(change, reasonOf(cancellation))
    emit(change, 'subscription-modified')
    if (!isServed(order)) return
    set(change, { proratesChurn: cancellation.prorated ?? false })
    if (end === null) return
    const churnTime = churnTimeOf(order, at, end)
    set(change, { churnTime, notBefore: at, remindersFrom: at })
    if (!hasNextPeriod(change.order)) voidComing(change)
    if (churnTime === at) churn(change)
  })
}

/**
 * Before the churn time service continues unchanged; later, or after delinquency, a new period begins, and is charged
 * however many renewals were declined before.
 * A `renewalTime` ahead becomes the next boundary and the anchor. With a new instrument, service that continues is charged for
 * what is open as `changeAutopay` has it.
 * @throws ConflictError when not canceled, without a further period, or with a delinquent invoice.
 */
export function reactivateOrder(
  order: Order,
  at: number,
  renewalTime: number | null = null,
  hasNewInstrument = false,
): Transition {
  requireStatus(order, ['canceled', 'churned'], 'reactivated')
  const goesOn = isServed(order)
  if (goesOn && order.invoices.some((one) => isOpen(one) && (one.delinquencyTime ?? at) < at)) {
    throw new ConflictError('The order has a delinquent invoice, which must be paid first.')
  }
  if (!goesOn && isLastPeriod(order)) {
    throw new ConflictError('The order has no further service period.')
  }
  return transition(order, at, 'api', (change) => {
    set(change, {
      status: 'active',
      notBefore: at,
      remindersFrom: at,
      canceledTime: null,
      churnTime: null,
      proratesChurn: false,
      canceledBy: null,
      cancelCategory: null,
      cancelDescription: null,
    })
    if (!goesOn) {
      const number = (order.rebillNumber ?? 0) + 1
      set(change, { inTrial: false, rebillNumber: number, periodStart: at })
      const { interval } = order.terms
      set(change, interval === null ? { anchor: at, anchorNumber: number } : anchorFrom(interval, at, number))
      set(change, { periodEnd: endOfPeriod(change.order, number) })
      set(change, { remindersSent: { ...order.remindersSent, renewal: 0 }, declinedRenewals: null })
    }
    if (renewalTime !== null && renewalTime > at && renews(change.order)) moveBoundary(change, renewalTime)
    emit(change, 'subscription-reactivated')
    if (goesOn) resumeRetries(change, order)
    if (goesOn && hasNewInstrument && order.terms.canCharge)
      set(change, changeAutopay(change.order, at, order.terms, true, true).order)
    const { rebillNumber } = change.order
    // Whatever was issued for a period of that number is voided or abandoned by now.
    if (!goesOn && rebillNumber !== null && !isPostpaid(order.terms)) issueRenewal(change, rebillNumber, at)
  })
}

/** @throws ConflictError for an order that is not pending. */
export function voidOrder(order: Order, at: number): Transition {
  requireStatus(order, ['pending'], 'voided')
  return transition(order, at, 'api', (change) => {
    set(change, { status: 'voided', voidTime: at })
    emit(change, 'order-voided')
    voidAll(change)
  })
}

/** @throws ConflictError unless the invoice is unpaid or past due, and for the first of a pending order. */
export function voidInvoice(order: Order, at: number, sequence: number): Transition {
  const invoice = order.invoices.find((one) => one.sequence === sequence)
  if (invoice?.status !== 'unpaid' && invoice?.status !== 'past-due') {
    throw new ConflictError('Only an unpaid or past-due invoice can be voided.')
  }
  if (order.status === 'pending' && invoice.type === 'initial') {
    throw new ConflictError('The first invoice of a pending order cannot be voided. Void the order instead.')
  }
  return transition(order, at, 'api', (change) => {
    voidInvoices(change, (invoice) => invoice.sequence === sequence)
    keepCredit(change)
  })
}

/**
 * Reprices the initial invoice under the same id; if already issued, its times move to a later start.
 * @throws ConflictError unless pending, and when that invoice is being charged or has payments.
 */
export function changeTerms(order: Order, at: number, terms: OrderTerms): Transition {
  requireStatus(order, ['pending'], 'changed')
  return transition(order, at, 'api', (change) => {
    set(change, { terms, notBefore: at, remindersFrom: at })
    const free = reissueInitial(change)
    if (terms.startTime !== order.terms.startTime) moveInitial(change)
    moveDueTimes(change, order.terms)
    if (free === null) return
    const paid = payInvoice(change.order, at, free)
    set(change, paid.order)
    change.events.push(...paid.events)
  })
}

/** For an order that is not pending: the terms count from its next invoice on. */
export function takeTerms(order: Order, at: number, terms: OrderTerms): Transition {
  return transition(order, at, 'api', (change) => setTerms(change, terms))
}

/** Returns null if the instant has passed or is the boundary already, or if the order does not renew. */
export function moveRenewal(order: Order, at: number, renewalTime: number): Transition | null {
  const { status, periodEnd } = order
  if (status !== 'active' && status !== 'paused') return null
  if (renewalTime <= at || renewalTime === periodEnd || !renews(order)) return null
  return transition(order, at, 'api', (change) => {
    moveBoundary(change, renewalTime)
    const ongoing = ongoingPause(order)
    // The time paused is still added to it when the pause ends.
    if (ongoing !== null)
      changePause(change, ongoing.id, { timeRemaining: renewalTime - ongoing.effectiveTime })
  })
}

/** Returns the sequence of an issued invoice of which nothing is due now: it is paid by that. */
function reissueInitial(change: Change): number | null {
  const initial = change.order.invoices.find(({ type, status }) => type === 'initial' && status !== 'voided')
  if (initial === undefined) return null
  const { order } = change
  const at = initial.issuedTime ?? initialIssue(order)
  const terms = initial.issuedTime === null ? order.terms : withKeptTaxes(order.terms, initial, at)
  const drawnUp = pricedAt({ ...order, terms }, initialLines(terms), at, initial.sequence)
  // It is priced as of its issue, and a discount that has ended since does not come back.
  const price = initial.issuedTime === null ? drawnUp : withoutUnpaid(drawnUp, change.at, terms.currency)
  const { lines, discounts, amount } = initial
  if (canonicalJson(price) === canonicalJson({ lines, discounts, amount })) return null
  requireNoCharge(initial)
  if (initial.status !== 'draft' && !isOpen(initial)) {
    throw new ConflictError(`The initial invoice is ${initial.status}.`)
  }
  if (!new Money(initial.amountPaid).equals(initial.amountRefunded)) {
    throw new ConflictError('The initial invoice is partially paid.')
  }
  const { sequence } = initial
  releaseCredit(change, sequence)
  changeInvoice(change, sequence, price)
  if (isOpen(initial)) useCredit(change, sequence)
  emit(change, 'invoice-reissued', { invoice: sequence })
  const reissued = change.order.invoices.find((one) => one.sequence === sequence)
  return reissued !== undefined && isOpen(reissued) && isZero(amountDue(reissued)) ? sequence : null
}

/** An issued invoice keeps its taxes, whatever has changed since. */
function withKeptTaxes(terms: OrderTerms, { lines }: Invoice, at: number): OrderTerms {
  const kept = keptTaxes(lines, taxesAt(terms.taxes, at))
  return { ...terms, taxes: kept && [{ from: at, ...kept }] }
}

function moveInitial(change: Change): void {
  const { order, at } = change
  const { startTime } = order.terms
  const initial = order.invoices.find((invoice) => invoice.type === 'initial' && isOpen(invoice))
  if (initial === undefined) return
  const { sequence, dueTime } = initial
  const moved = Math.max(0, startTime - (dueTime ?? startTime))
  changeInvoice(change, sequence, {
    chargeTime: movedCharge(order, initial, at),
    ...(dueTime === null ? {} : dueAt(initial, dueTime + moved, at)),
  })
  if (moved > 0) emit(change, 'invoice-modified', { invoice: sequence })
}

function moveDueTimes(change: Change, before: OrderTerms): void {
  const { order, at } = change
  const initial = order.invoices.find((invoice) => invoice.type === 'initial' && isOpen(invoice))
  if (initial === undefined) return
  changeInvoice(change, initial.sequence, dueUnder(initial, before, order.terms, at))
}

function movedCharge(order: Order, initial: Invoice, at: number): number | null {
  const { chargeTime } = initial
  const { startTime } = order.terms
  if (chargeTime === null) return null
  if (chargeTime <= at) return Math.max(startTime, chargeTime)
  return nextRetry(order, initial, at) ?? Math.max(startTime, at)
}

/** Retries that fell into the cancellation are made once, now. */
function resumeRetries(change: Change, canceled: Order): void {
  for (const invoice of canceled.invoices) {
    const { sequence, chargeTime } = invoice
    if (chargeTime === null || chargeTime >= change.at || !awaitsUndo(canceled, invoice)) continue
    changeInvoice(change, sequence, { chargeTime: change.at })
  }
}

function churnTimeOf(
  { periodEnd }: Order,
  at: number,
  { churnTime, churnTimePolicy }: Pick<Cancellation, 'churnTime' | 'churnTimePolicy'>,
): number {
  if (churnTimePolicy === 'now') return at
  if (churnTimePolicy === 'at-next-renewal') {
    if (periodEnd === null) refuse('churnTimePolicy', 'mismatch', 'requires an order with a service period')
    return Math.max(periodEnd, at)
  }
  return Math.max(churnTime ?? at, at)
}

function reasonOf({
  canceledBy,
  reason,
  description,
}: Pick<Cancellation, 'canceledBy' | 'reason' | 'description'>) {
  return { canceledBy, cancelCategory: reason, cancelDescription: description }
}

function renews(order: Order): boolean {
  return order.periodEnd !== null && (order.inTrial || !isLastPeriod(order))
}
