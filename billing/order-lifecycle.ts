/** Pure functions, for timers, the API and the sweep: early, late and repeated calls give the same record. */
import { awaitedCharges, awaitsUndo, type GatewayCall, nextGatewayCall, waitsFor } from './charging.ts'
import { withoutUnpaid } from './discounts.ts'
import {
  draftInvoice,
  earlyIssue,
  type Invoice,
  isLive,
  isOpen,
  issued,
  isUncharged,
  pastDueTime,
  pricedAt,
  renewalLines,
} from './invoices.ts'
import { isZero } from './money.ts'
import {
  activate,
  type Cause,
  type Change,
  changeInvoice,
  closeQueue,
  emit,
  endInvoice,
  enqueueCredit,
  hasNextPeriod,
  isComing,
  isServed,
  issue,
  issueEnding,
  issueRenewal,
  mayCharge,
  type Order,
  ongoingPause,
  set,
  type Transition,
  transition,
  turnQueueIntoMemo,
  voidAll,
  voidComing,
  withQueue,
} from './order.ts'
import { isPostpaid } from './order-terms.ts'
import { beginPause, endPauses, resume, revokePauses } from './pauses.ts'
import { endOfPeriod } from './periods.ts'
import { endingLines, unusedPart } from './prorated-periods.ts'
import { nextReminder, remind } from './reminders.ts'

/** What is due at the same instant is applied in this order. */
const DUE_KINDS = [
  'start',
  'abandonment',
  'churn',
  'issue',
  'end of discount',
  'past due',
  'delinquency',
  'pause and resume',
  'trial end',
  'boundary',
  'completion',
  'reminder',
] as const
export type DueKind = (typeof DUE_KINDS)[number]

export interface Advance {
  readonly order: Order
  readonly transitions: readonly Transition[]
  /** null: nothing ever. At or before the instant only where `atMost` was reached. */
  readonly next: { readonly at: number; readonly kind: DueKind } | null
  /** Due or in the future. What depends on a due charge waits for its result. */
  readonly gatewayCall: GatewayCall | null
}

interface Due {
  readonly at: number
  readonly kind: DueKind
  readonly cause: Cause
  /** The invoice whose payment would have prevented it. */
  readonly invoice?: number
  readonly work: (change: Change) => void
}

/** Applies everything due through `instant`, inclusive, in at most `atMost` transitions. */
export function advanceThrough(order: Order, instant: number, atMost = Number.POSITIVE_INFINITY): Advance {
  const transitions: Transition[] = []
  let state = order
  for (;;) {
    const due = nextDue(state)
    if (due === null || due.at > instant || transitions.length >= atMost) {
      return {
        order: state,
        transitions,
        next: due === null ? null : { at: due.at, kind: due.kind },
        gatewayCall: nextGatewayCall(state),
      }
    }
    const made = transition(state, due.at, due.cause, due.work)
    transitions.push(made)
    state = made.order
  }
}

/** As `advanceThrough`, excluding `instant`: a command at that instant finds the order so. */
export function advanceBefore(order: Order, instant: number): Advance {
  return advanceThrough(order, instant - 1)
}

function nextDue(order: Order): Due | null {
  let first: Due | null = null
  const awaited = awaitedCharges(order)
  for (const due of candidates(order)) {
    if (awaited.some((charge) => waitsFor(order, charge, due.at, due.invoice ?? null))) continue
    if (
      first === null ||
      due.at < first.at ||
      (due.at === first.at && DUE_KINDS.indexOf(due.kind) < DUE_KINDS.indexOf(first.kind))
    ) {
      first = due
    }
  }
  return first
}

function* candidates(order: Order): Generator<Due> {
  yield* endingDiscounts(order)
  yield* pastDues(order)
  const reminder = nextReminder(order)
  if (reminder !== null) {
    yield { at: reminder.at, kind: 'reminder', cause: 'timer', work: (change) => remind(change, reminder) }
  }
  switch (order.status) {
    case 'pending':
      yield* ofPending(order)
      break
    case 'active':
      yield* delinquencies(order, cancelForDelinquency)
      yield* pauses(order)
      yield* ofActive(order)
      break
    case 'paused':
      yield* delinquencies(order, cancelForDelinquency)
      yield* resumes(order)
      break
    case 'canceled':
      if (!isServed(order)) break
      yield* churns(order)
      if (hasNextPeriod(order)) yield* ofService(order)
      else yield* lastPostpaidEnd(order)
      break
  }
}

/** Only if service would have ended there without the cancellation. */
function* lastPostpaidEnd(order: Order): Generator<Due> {
  const { terms, inTrial, periodEnd, churnTime, rebillNumber, invoicedThrough, notBefore } = order
  if (!isPostpaid(terms) || inTrial || periodEnd === null || churnTime === null) return
  if (periodEnd >= churnTime || invoicedThrough >= (rebillNumber ?? 0)) return
  yield { at: Math.max(periodEnd, notBefore), kind: 'boundary', cause: 'timer', work: issueEnding }
}

function* ofPending(order: Order): Generator<Due> {
  const { terms, notBefore } = order
  const startsAt = Math.max(terms.startTime, notBefore)
  const initial = order.invoices.find(({ type }) => type === 'initial')
  if (initial?.status === 'draft') {
    yield { at: startsAt, kind: 'start', cause: 'timer', work: (change) => start(change, initial) }
  } else if (initial !== undefined && waitsForStart(initial)) {
    yield { at: startsAt, kind: 'start', cause: 'timer', work: (change) => startIssued(change, initial) }
  }
  if (terms.abandonTime !== null) {
    const at = Math.max(terms.abandonTime, notBefore)
    yield { at, kind: 'abandonment', cause: 'deadline', work: abandon }
  }
  for (const due of delinquencies(order, abandon)) {
    // Only a decline of the first payment ends the order. An unknown outcome counts as one after a day,
    // which may be later than the delinquency time.
    const declinedTime = order.invoices.find(({ sequence }) => sequence === due.invoice)?.declinedTime
    if (declinedTime != null) yield { ...due, at: Math.max(due.at, declinedTime) }
  }
}

/** True if only a start that was moved later keeps an issued initial invoice from beginning its order. */
function waitsForStart(initial: Invoice): boolean {
  if (!isOpen(initial)) return initial.paidTime !== null && initial.status !== 'voided'
  const isOwnCharge = initial.charge?.isOwn ?? false
  return !isOwnCharge && initial.chargeTime === null && initial.declinedTime === null
}

function* ofActive(order: Order): Generator<Due> {
  const { terms, notBefore } = order
  if (terms.trial === null && terms.interval === null) {
    const paid = order.invoices.find((one) => one.type === 'initial' && one.paidTime !== null && isLive(one))
    if (paid === undefined) return
    // An order paid during a pause completes when the pause ends, never before an earlier transition.
    const resumed = order.pauses.map(
      ({ status, endTime }) => (status === 'finished' ? endTime : null) ?? notBefore,
    )
    const at = Math.max(notBefore, paid.paidTime ?? notBefore, ...resumed)
    yield { at, kind: 'completion', cause: 'timer', work: complete }
    return
  }
  yield* ofService(order)
}

function* ofService(order: Order): Generator<Due> {
  const { terms, periodEnd, rebillNumber, notBefore, invoicedThrough } = order
  if (periodEnd === null || rebillNumber === null) return
  const at = Math.max(periodEnd, notBefore)
  const renews = hasNextPeriod(order)
  if (renews && invoicedThrough === rebillNumber && !isPostpaid(terms)) {
    const early = earlyIssue(terms, periodEnd)
    const issueAt = early === null ? at : Math.max(early, order.periodStart ?? early, notBefore)
    if (issueAt < at) {
      const work = (change: Change) => issueRenewal(change, rebillNumber + 1, periodEnd)
      yield { at: issueAt, kind: 'issue', cause: 'timer', work }
    }
  }
  if (order.inTrial) yield { at, kind: 'trial end', cause: 'timer', work: endTrial }
  else if (renews) yield { at, kind: 'boundary', cause: 'timer', work: renew }
  else yield { at, kind: 'boundary', cause: 'timer', work: complete }
}

/** Ends the discounts for which an open invoice had to be paid by now. */
function* endingDiscounts(order: Order): Generator<Due> {
  for (const invoice of order.invoices) {
    const times = invoice.discounts.flatMap(({ paidBy }) => paidBy ?? [])
    if (!isOpen(invoice) || times.length === 0) continue
    const { sequence } = invoice
    yield {
      at: Math.min(...times),
      kind: 'end of discount',
      cause: 'deadline',
      invoice: sequence,
      work(change) {
        changeInvoice(change, sequence, withoutUnpaid(invoice, change.at, change.order.terms.currency))
        emit(change, 'invoice-modified', { invoice: sequence })
      },
    }
  }
}

function* pastDues(order: Order): Generator<Due> {
  for (const invoice of order.invoices) {
    const { sequence, status, dueTime } = invoice
    if (status !== 'unpaid' && status !== 'partially-paid') continue
    if (dueTime === null || awaitsResume(order, invoice)) continue
    yield {
      at: pastDueTime(dueTime),
      kind: 'past due',
      cause: 'deadline',
      invoice: sequence,
      work(change) {
        changeInvoice(change, sequence, { status: 'past-due' })
        emit(change, 'invoice-past-due', { invoice: sequence })
      },
    }
  }
}

function* delinquencies(order: Order, work: (change: Change) => void): Generator<Due> {
  for (const invoice of order.invoices) {
    if (!isOpen(invoice) || invoice.delinquencyTime === null || awaitsResume(order, invoice)) continue
    yield {
      at: Math.max(invoice.delinquencyTime, order.notBefore),
      kind: 'delinquency',
      cause: 'deadline',
      invoice: invoice.sequence,
      work,
    }
  }
}

/** True if the invoice is due at a boundary that moves when the pause ends. */
function awaitsResume(order: Order, invoice: Invoice): boolean {
  return order.status === 'paused' && isComing(order, invoice)
}

function* pauses(order: Order): Generator<Due> {
  for (const pause of order.pauses) {
    if (pause.status !== 'pending') continue
    const work = (change: Change) => beginPause(change, pause.id)
    yield { at: pause.effectiveTime, kind: 'pause and resume', cause: 'timer', work }
  }
}

function* resumes(order: Order): Generator<Due> {
  const pause = ongoingPause(order)
  if (pause?.endTime == null) return
  yield { at: pause.endTime, kind: 'pause and resume', cause: 'timer', work: resume }
}

function* churns({ churnTime }: Order): Generator<Due> {
  if (churnTime === null) return
  yield { at: churnTime, kind: 'churn', cause: 'timer', work: churn }
}

function start(change: Change, draft: Invoice): void {
  const { terms } = change.order
  issue(change, draft.sequence, change.at)
  // With a charge to make, service begins with the charge's result.
  if (change.order.invoices.some(({ chargeTime }) => chargeTime !== null)) return
  activate(change, terms.startTime)
}

/** For an order whose initial invoice was issued before its start was moved later. */
function startIssued(change: Change, { sequence, declinedTime, paidTime }: Invoice): void {
  const { startTime, canCharge } = change.order.terms
  // Nothing could be charged at issue; an instrument may have been added since.
  if (paidTime === null && canCharge) changeInvoice(change, sequence, { chargeTime: change.at })
  else activate(change, declinedTime === null ? startTime : Math.max(startTime, change.at))
}

function abandon(change: Change): void {
  set(change, { status: 'abandoned' })
  voidAll(change)
  emit(change, 'order-abandoned')
}

function endTrial(change: Change): void {
  const { terms, periodEnd } = change.order
  set(change, { inTrial: false })
  const isPaid = change.order.invoices.some((one) => isPaidAfterTrial(one))
  if (terms.interval === null || periodEnd === null) {
    set(change, { status: 'trial-ended' })
    revokePauses(change)
    emit(change, 'subscription-trial-ended')
    closeQueue(change)
    return
  }
  beginPeriod(change, periodEnd)
  emit(change, 'subscription-trial-ended')
  if (isPaid) convertTrial(change)
  billPeriod(change, periodEnd)
}

function isPaidAfterTrial({ periodNumber, status, amountPaid }: Invoice): boolean {
  return (periodNumber ?? 0) > 0 && status === 'paid' && !isZero(amountPaid)
}

export function convertTrial(change: Change): void {
  if (change.order.isTrialConverted) return
  set(change, { isTrialConverted: true, trialConversionTime: change.at })
  emit(change, 'subscription-trial-converted')
}

function renew(change: Change): void {
  const { periodEnd } = change.order
  if (periodEnd === null) return
  issueEnding(change)
  beginPeriod(change, periodEnd)
  emit(change, 'subscription-renewed')
  billPeriod(change, periodEnd)
}

function beginPeriod(change: Change, boundary: number): void {
  const number = (change.order.rebillNumber ?? 0) + 1
  set(change, {
    rebillNumber: number,
    periodStart: boundary,
    periodEnd: endOfPeriod(change.order, number),
    remindersFrom: change.at,
    remindersSent: { ...change.order.remindersSent, renewal: 0 },
  })
}

function billPeriod(change: Change, boundary: number): void {
  const { rebillNumber, invoicedThrough, invoices, terms } = change.order
  if (rebillNumber === null || isPostpaid(terms)) return
  if (invoicedThrough < rebillNumber) {
    issueRenewal(change, rebillNumber, boundary)
    return
  }
  // The early invoice had nothing to charge; an instrument may have been added since.
  const early = invoices.find((one) => one.periodNumber === rebillNumber && isOpen(one))
  if (early !== undefined && mayCharge(change.order) && isUncharged(early)) {
    changeInvoice(change, early.sequence, { chargeTime: Math.max(boundary, change.at) })
  }
}

export function complete(change: Change): void {
  issueEnding(change)
  set(change, { status: 'completed' })
  revokePauses(change)
  emit(change, 'order-completed')
  closeQueue(change)
}

/** Open invoices stay open, without a delinquency time; charges that are not due yet are not made. */
export function churn(change: Change): void {
  const { order: served, at } = change
  const credit = served.proratesChurn ? enqueueCredit(change, unusedPart(served, at)) : []
  set(change, { status: 'churned' })
  for (const invoice of served.invoices) {
    const { sequence, chargeTime } = invoice
    if (chargeTime === null || (chargeTime < at && !awaitsUndo(served, invoice))) continue
    changeInvoice(change, sequence, { chargeTime: null })
  }
  voidComing(change)
  // The last period of a postpaid order is charged once more.
  issueEnding(change, change.order.proratesChurn ? change.at : null)
  set(change, { periodEnd: null })
  endDelinquency(change)
  emit(change, 'subscription-churned', credit.length === 0 ? {} : { credit })
  turnQueueIntoMemo(change)
}

function endDelinquency(change: Change): void {
  for (const invoice of change.order.invoices) {
    if (isOpen(invoice)) changeInvoice(change, invoice.sequence, { delinquencyTime: null })
  }
}

function cancelForDelinquency(change: Change): void {
  endPauses(change)
  set(change, {
    status: 'canceled',
    canceledBy: 'rebilly-side',
    cancelCategory: 'billing-failure',
    cancelDescription: null,
    canceledTime: change.at,
    churnTime: change.at,
  })
  emit(change, 'order-delinquency-reached')
  emit(change, 'subscription-canceled')
  for (const { sequence } of change.order.invoices.filter(isOpen)) endInvoice(change, sequence, 'abandoned')
  voidComing(change)
  issueEnding(change)
  set(change, { periodEnd: null })
  endDelinquency(change)
  turnQueueIntoMemo(change)
}

/** Returns the next renewal invoice; null when none follows, and while the order is paused or out of service. */
export function upcomingInvoice(order: Order): Invoice | null {
  const { terms, invoicedThrough, rebillNumber, periodEnd, nextInvoice } = order
  if (order.status !== 'active' && !isServed(order)) return null
  if (terms.interval === null || rebillNumber === null) return null
  if (isPostpaid(terms)) return upcomingEnding(order)
  const number = Math.max(invoicedThrough, rebillNumber) + 1
  const { limit } = terms.interval
  const boundary = number === rebillNumber + 1 ? periodEnd : endOfPeriod(order, number - 1)
  if (boundary === null || (limit !== null && number > limit)) return null
  if (order.churnTime !== null && boundary >= order.churnTime) return null
  // An invoice is issued once the period before its own has begun.
  const soonest = number === rebillNumber + 1 ? order.periodStart : periodEnd
  const at = Math.max(earlyIssue(terms, boundary) ?? boundary, soonest ?? boundary, order.notBefore)
  const price = pricedAt(order, withQueue(order, renewalLines(terms), at).lines, at, nextInvoice)
  const draft = draftInvoice(nextInvoice, 'renewal', price, {
    periodNumber: number,
    periodStart: boundary,
    periodEnd: endOfPeriod(order, number),
  })
  return { ...issued(draft, terms, at, Math.max(boundary, at)), status: 'draft', paidTime: null }
}

function upcomingEnding(order: Order): Invoice | null {
  const { terms, rebillNumber, invoicedThrough, periodStart, periodEnd, churnTime } = order
  if (order.inTrial) {
    if (!hasNextPeriod(order)) return null
    const end = endOfPeriod(order, 1)
    return upcomingEnding({
      ...order,
      inTrial: false,
      rebillNumber: 1,
      periodStart: periodEnd,
      periodEnd: end,
    })
  }
  const number = rebillNumber ?? 0
  if (periodStart === null || periodEnd === null || invoicedThrough >= number) return null
  const at = Math.max(Math.min(periodEnd, churnTime ?? periodEnd), order.notBefore)
  const isCut = order.proratesChurn && churnTime !== null && churnTime < periodEnd
  const own = endingLines(order, isCut ? churnTime : null)
  const { lines } = withQueue(order, own, at)
  const price = pricedAt(order, lines, at, order.nextInvoice)
  const draft = draftInvoice(order.nextInvoice, 'renewal', price, {
    periodNumber: number,
    periodStart,
    periodEnd,
  })
  return { ...issued(draft, terms, at, at), status: 'draft', paidTime: null }
}
