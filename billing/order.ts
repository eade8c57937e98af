import { canonicalJson } from './canonical-json.ts'
import {
  allocateCredit,
  type Credit,
  type CreditAllocation,
  mergedCredit,
  withCredit,
  withoutCredit,
} from './credit-memos.ts'
import { type DeclinedRenewals, waitsForInstrument } from './dunning.ts'
import { ConflictError } from './errors.ts'
import type { EventType } from './event-types.ts'
import { givenCredit, takenBack, withLessCredited } from './given-credit.ts'
import { LATEST_INSTANT } from './instants.ts'
import {
  amountDue,
  draftInvoice,
  dueAt,
  type Invoice,
  type InvoiceLine,
  initialLines,
  isLive,
  isOpen,
  issued,
  pricedAt,
  renewalLines,
} from './invoices.ts'
import { isZero } from './money.ts'
import { isPostpaid, type OrderTerms, trialEnd } from './order-terms.ts'
import { anchorFrom, endOfPeriod } from './periods.ts'
import { type ChangedPeriod, endingLines } from './prorated-periods.ts'
import { drawCredits, grossAmount, queuedDebits, returnedLines } from './proration.ts'

export const ORDER_STATUSES = [
  'pending',
  'active',
  'abandoned',
  'canceled',
  'churned',
  'paused',
  'voided',
  'completed',
  'trial-ended',
] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]

export const CANCEL_CATEGORIES = [
  'billing-failure',
  'did-not-use',
  'did-not-want',
  'missing-features',
  'bugs-or-problems',
  'do-not-remember',
  'risk-warning',
  'contract-expired',
  'too-expensive',
  'never-started',
  'other',
] as const
export type CancelCategory = (typeof CANCEL_CATEGORIES)[number]
export type CanceledBy = 'merchant' | 'customer' | 'rebilly-side'

export interface Pause {
  readonly id: string
  readonly status: 'pending' | 'ongoing' | 'finished' | 'revoked'
  readonly effectiveTime: number
  /** null: until it is resumed. */
  readonly endTime: number | null
  /** Milliseconds from its end to the next boundary; null until it begins, unless it was chosen. */
  readonly timeRemaining: number | null
}

/** Instants in milliseconds on the order's own clock; null: none. */
export interface Order {
  readonly terms: OrderTerms
  readonly status: OrderStatus
  readonly activationTime: number | null
  /** Nothing is due before this: its creation, activation or reactivation, or a later change of what is due. */
  readonly notBefore: number
  readonly voidTime: number | null
  readonly canceledTime: number | null
  readonly churnTime: number | null
  readonly canceledBy: CanceledBy | null
  readonly cancelCategory: CancelCategory | null
  readonly cancelDescription: string | null
  readonly inTrial: boolean
  readonly isTrialConverted: boolean
  readonly trialConversionTime: number | null
  /** The current period: 0 in trial, then from 1; null before the start, and where nothing recurs. */
  readonly rebillNumber: number | null
  /** Highest period with an issued invoice. */
  readonly invoicedThrough: number
  /** Where period `anchorNumber` begins; every later boundary counts from it. */
  readonly anchor: number | null
  readonly anchorNumber: number
  readonly periodStart: number | null
  /** End of the current period or trial; null: never, or before the start. */
  readonly periodEnd: number | null
  /** Only those that have not ended. */
  readonly pauses: readonly Pause[]
  /** At least those that can still change. */
  readonly invoices: readonly Invoice[]
  /** When a charge was last made more than an hour late. */
  readonly lateChargeTime: number | null
  /** The customer's credit memos, oldest first, used up ones that its invoices name included. */
  readonly credit: readonly Credit[]
  /** null: the last automatic charge was approved, or none was declined. */
  readonly declinedRenewals: DeclinedRenewals | null
  readonly nextInvoice: number
  /** Earlier reminders are not sent: they were, or what they remind of was not known then. */
  readonly remindersFrom: number
  readonly remindersSent: Readonly<Record<'renewal' | 'trialEnd' | 'abandon', number>>
  /** Lines for the next invoice: credits, whose amounts are negative, and debits. */
  readonly queue: readonly InvoiceLine[]
  /** Milliseconds that a period was paused in all; null: no period was. */
  readonly paused: { readonly period: number; readonly time: number } | null
  /** True if the unused part of the last period is credited when a cancellation ends service. */
  readonly proratesChurn: boolean
  /** What prorated changes made of how the period of that number is billed; null: none did. */
  readonly changedPeriod: ChangedPeriod | null
}

export type Cause = 'api' | 'timer' | 'payment' | 'deadline'

export interface DomainEvent {
  readonly type: EventType
  readonly invoice?: number
  readonly pause?: string
  readonly credit?: readonly InvoiceLine[]
  /** What is taken back from a memo, which is less by that. */
  readonly reduced?: CreditAllocation
  /** True if it also concerns the transaction whose result caused the transition. */
  readonly ofTransaction?: boolean
}

export interface Transition {
  readonly at: number
  readonly cause: Cause
  readonly order: Order
  readonly events: readonly DomainEvent[]
}

export interface Change {
  readonly at: number
  order: Order
  readonly events: DomainEvent[]
}

/**
 * Returns the order as `work` leaves it, with the events that `work` has emitted, in their order. The given order stays as it
 * is; if `work` throws, there is no transition.
 */
export function transition(
  order: Order,
  at: number,
  cause: Cause,
  work: (change: Change) => void,
): Transition {
  const change: Change = { at, order, events: [] }
  work(change)
  return { at, cause, order: change.order, events: change.events }
}

/** Nothing has happened to it yet: it has no invoice and no period. */
export function blankOrder(terms: OrderTerms): Order {
  return {
    terms,
    status: 'pending',
    activationTime: null,
    notBefore: terms.createdTime,
    voidTime: null,
    canceledTime: null,
    churnTime: null,
    canceledBy: null,
    cancelCategory: null,
    cancelDescription: null,
    inTrial: false,
    isTrialConverted: false,
    trialConversionTime: null,
    rebillNumber: null,
    invoicedThrough: 0,
    anchor: null,
    anchorNumber: 1,
    periodStart: null,
    periodEnd: null,
    pauses: [],
    invoices: [],
    lateChargeTime: null,
    credit: [],
    declinedRenewals: null,
    nextInvoice: 1,
    remindersFrom: terms.createdTime,
    remindersSent: { renewal: 0, trialEnd: 0, abandon: 0 },
    queue: [],
    paused: null,
    proratesChurn: false,
    changedPeriod: null,
  }
}

export function placeOrder(terms: OrderTerms): Transition {
  return transition(blankOrder(terms), terms.createdTime, 'api', (change) => {
    emit(change, 'subscription-created')
    addInvoice(
      change,
      'initial',
      initialLines(terms),
      { periodNumber: null, periodStart: null, periodEnd: null },
      initialIssue(change.order),
    )
  })
}

/** Returns null in the last period, where nothing recurs, and where a cancellation ends service by then. */
export function renewalTime(order: Order): number | null {
  const { status, inTrial, periodEnd } = order
  if (status === 'active') return inTrial || !isLastPeriod(order) ? periodEnd : null
  return isServed(order) && hasNextPeriod(order) ? periodEnd : null
}

/** True if the order was canceled, and its service goes on until the churn time. */
export function isServed({ status, canceledBy }: Pick<Order, 'status' | 'canceledBy'>): boolean {
  return status === 'canceled' && canceledBy !== 'rebilly-side'
}

/** Returns the pause under way; null: the order is not paused. */
export function ongoingPause({ pauses }: Pick<Order, 'pauses'>): Pause | null {
  return pauses.find(({ status }) => status === 'ongoing') ?? null
}

export function hasNextPeriod(order: Order): boolean {
  const { terms, inTrial, periodEnd, churnTime } = order
  if (terms.interval === null || periodEnd === null) return false
  return (inTrial || !isLastPeriod(order)) && (churnTime === null || periodEnd < churnTime)
}

export function isLastPeriod({ terms, rebillNumber }: Pick<Order, 'terms' | 'rebillNumber'>): boolean {
  const { interval } = terms
  return interval === null || (interval.limit !== null && (rebillNumber ?? 0) >= interval.limit)
}

/** Begins service at `asOf`, at most the change's instant. Without a trial the first period begins at `anchor`. */
export function activate(change: Change, anchor: number, asOf = change.at): void {
  const { at, order } = change
  const { terms } = order
  set(change, { status: 'active', activationTime: asOf, notBefore: at, remindersFrom: at })
  if (terms.trial !== null) {
    const end = trialEnd(terms, asOf)
    set(change, {
      inTrial: true,
      rebillNumber: 0,
      periodStart: asOf,
      periodEnd: end,
      ...(terms.interval === null || end === null
        ? { anchor: end, anchorNumber: 1 }
        : anchorFrom(terms.interval, end, 1)),
    })
  } else if (terms.interval !== null) {
    set(change, { rebillNumber: 1, invoicedThrough: isPostpaid(terms) ? 0 : 1, periodStart: anchor })
    set(change, anchorFrom(terms.interval, anchor, 1))
    set(change, { periodEnd: endOfPeriod(change.order, 1) })
  }
  const { periodStart, periodEnd, rebillNumber } = change.order
  for (const { sequence, type } of change.order.invoices) {
    // A first period that is billed at its end has an invoice of its own.
    if (type === 'initial' && (!isPostpaid(terms) || rebillNumber === 0))
      changeInvoice(change, sequence, { periodStart, periodEnd, periodNumber: rebillNumber })
  }
  emit(change, 'subscription-activated')
}

export function initialIssue({ terms, notBefore }: Pick<Order, 'terms' | 'notBefore'>): number {
  return Math.max(terms.startTime, notBefore)
}

/** Adds a draft, priced for its issue at `issuedAt`. */
function addInvoice(
  change: Change,
  type: Invoice['type'],
  lines: readonly InvoiceLine[],
  period: Parameters<typeof draftInvoice>[3],
  issuedAt: number,
): number {
  const sequence = change.order.nextInvoice
  const invoice = draftInvoice(sequence, type, pricedAt(change.order, lines, issuedAt, sequence), period)
  set(change, { invoices: [...change.order.invoices, invoice], nextInvoice: sequence + 1 })
  emit(change, 'invoice-created', { invoice: sequence })
  return sequence
}

/** Issues a draft at the discounts of the instant. It uses the customer's credit, and is paid if nothing is due. */
export function issue(change: Change, sequence: number, chargedAt: number): void {
  const { at } = change
  const found = change.order.invoices.find((one) => one.sequence === sequence)
  if (found === undefined) return
  changeInvoice(change, sequence, pricedAt(change.order, found.lines, at, sequence))
  useCredit(change, sequence)
  const { order } = change
  const draft = order.invoices.find((one) => one.sequence === sequence) ?? found
  const terms = { ...order.terms, canCharge: mayCharge(order) }
  changeInvoice(change, sequence, issued(draft, terms, at, chargedAt))
  emit(change, 'invoice-issued', { invoice: sequence })
  if (isZero(amountDue(draft))) emit(change, 'invoice-paid', { invoice: sequence })
}

export function mayCharge(order: Order): boolean {
  return order.terms.canCharge && !waitsForInstrument(order)
}

export function issueRenewal(change: Change, number: number, boundary: number): void {
  const { order } = change
  const lines = renewalLines(order.terms)
  issuePeriod(change, number, {
    lines,
    start: boundary,
    end: endOfPeriod(order, number),
    chargedAt: boundary,
  })
}

/** Issues the invoice of a postpaid order's current period, unless it has one. */
export function issueEnding(change: Change, through: number | null = null): void {
  const { terms, rebillNumber, invoicedThrough, periodStart, periodEnd } = change.order
  if (!isPostpaid(terms) || rebillNumber === null || rebillNumber === 0 || periodStart === null) return
  if (invoicedThrough >= rebillNumber) return
  const lines = endingLines(change.order, through)
  issuePeriod(change, rebillNumber, { lines, start: periodStart, end: periodEnd, chargedAt: change.at })
  set(change, { changedPeriod: null })
}

function issuePeriod(
  change: Change,
  number: number,
  {
    lines,
    start,
    end,
    chargedAt,
  }: { lines: readonly InvoiceLine[]; start: number; end: number | null; chargedAt: number },
): void {
  const sequence = addInvoice(
    change,
    'renewal',
    takeQueue(change, lines),
    { periodNumber: number, periodStart: start, periodEnd: end },
    change.at,
  )
  set(change, { invoicedThrough: number })
  issue(change, sequence, Math.max(chargedAt, change.at))
  emit(change, 'renewal-invoice-issued', { invoice: sequence })
}

/**
 * Voids the drafts and open invoices that fit: credit that they use goes back to its memos, and lines that they took from the
 * queue return to it. Returns false if none fits.
 */
export function voidInvoices(change: Change, fits: (invoice: Invoice) => boolean = () => true): boolean {
  const ending = change.order.invoices.filter(
    (invoice) => (invoice.status === 'draft' || isOpen(invoice)) && fits(invoice),
  )
  for (const { sequence } of ending) endInvoice(change, sequence, 'voided')
  return ending.length > 0
}

/** Voids every invoice of an order that will not begin, paid ones included. */
export function voidAll(change: Change): void {
  const standing = change.order.invoices.filter(({ status }) => status !== 'voided')
  for (const { sequence } of standing) endInvoice(change, sequence, 'voided')
}

/** The oldest memo is used first. */
export function useCredit(change: Change, sequence: number): void {
  const { invoices, credit, terms } = change.order
  const invoice = invoices.find((one) => one.sequence === sequence)
  if (invoice === undefined) return
  const used = allocateCredit(amountDue(invoice), terms.currency, credit)
  if (used.length === 0) return
  set(change, { credit: withoutCredit(credit, used) })
  changeInvoice(change, sequence, { credits: mergedCredit(invoice.credits, used) })
}

/** For an invoice that will not be delivered. */
export function releaseCredit(change: Change, sequence: number): void {
  const { invoices, credit } = change.order
  const credits = invoices.find((one) => one.sequence === sequence)?.credits ?? []
  if (credits.length === 0) return
  set(change, { credit: withCredit(credit, credits) })
  changeInvoice(change, sequence, { credits: [] })
}

/** Adds the queue, as far as the next invoice, made at an instant, can bear its credits. `left` stays queued. */
export function withQueue(
  order: Order,
  own: readonly InvoiceLine[],
  at: number,
): { readonly lines: readonly InvoiceLine[]; readonly left: readonly InvoiceLine[] } {
  const { queue, nextInvoice } = order
  if (queue.length === 0) return { lines: own, left: [] }
  const lines = [...own, ...queuedDebits(queue)]
  const drawn = drawCredits(queue, pricedAt(order, lines, at, nextInvoice).amount, order.terms.currency)
  return { lines: [...lines, ...drawn.lines], left: drawn.left }
}

/** As `withQueue`; what is taken is no longer queued. */
function takeQueue(change: Change, own: readonly InvoiceLine[]): readonly InvoiceLine[] {
  const { lines, left } = withQueue(change.order, own, change.at)
  if (change.order.queue.length > 0) set(change, { queue: left })
  return lines
}

/** Issues an invoice between renewals, which is charged at once, with its own lines and the queue. Returns its sequence. */
export function issueInterim(change: Change, own: readonly InvoiceLine[]): number {
  const { at, order } = change
  const isServing = order.status === 'active' || isServed(order)
  // A canceled order may be served past the end of its last period.
  const isInPeriod = isServing && (order.periodEnd === null || order.periodEnd > at)
  const [periodStart, periodEnd] = isInPeriod ? [at, order.periodEnd] : [null, null]
  const lines = takeQueue(change, own)
  const sequence = addInvoice(change, 'interim', lines, { periodNumber: null, periodStart, periodEnd }, at)
  issue(change, sequence, at)
  return sequence
}

/**
 * For an order that nothing invoices any more: sales that still wait for an invoice get one of their own, and credit that is
 * left becomes a memo.
 */
export function closeQueue(change: Change): void {
  const hasSales = change.order.queue.some(({ type }) => type !== 'proration')
  if (hasSales) issueInterim(change, [])
  turnQueueIntoMemo(change)
}

/** Turns the credit of proration that no invoice of an ended service will use into a credit memo of the customer. */
export function turnQueueIntoMemo(change: Change): void {
  const ofProration = change.order.queue.filter(({ type }) => type === 'proration')
  const debits = queuedDebits(ofProration)
  const { left } = drawCredits(ofProration, grossAmount(debits).toFixed(), change.order.terms.currency)
  if (left.length === 0) return
  set(change, { queue: change.order.queue.filter(({ type }) => type !== 'proration') })
  emit(change, 'credit-memo-created', { credit: left })
}

/** For what commands return to the queue: once service has ended, no invoice takes its credit from there. */
export function keepCredit(change: Change): void {
  if (isWithoutService(change.order)) turnQueueIntoMemo(change)
}

/** True once service has ended, for good or until a reactivation. */
export function isWithoutService(order: Pick<Order, 'status' | 'canceledBy'>): boolean {
  return WITHOUT_SERVICE.has(order.status) || (order.status === 'canceled' && !isServed(order))
}

const WITHOUT_SERVICE: ReadonlySet<OrderStatus> = new Set(['churned', 'completed', 'trial-ended'])

/** Takes out of the queue what is for the current period, once nobody is billed for that: its invoice ends unpaid. */
export function dropQueuedLines(change: Change, sequence: number): void {
  const { queue, invoices, rebillNumber, periodStart } = change.order
  const ended = invoices.find((one) => one.sequence === sequence)
  if (ended === undefined || ended.periodNumber !== rebillNumber || periodStart === null) return
  const isKept = (line: InvoiceLine) => line.type !== 'proration' || (line.periodStart ?? 0) < periodStart
  const dropped = queue.filter((line) => !isKept(line))
  if (dropped.length === 0) return
  const invoicesNow = withLessCredited(change.order, grossAmount(dropped).negated())
  set(change, { queue: queue.filter(isKept), invoices: invoicesNow })
}

/** Queues credits of the current period, with debits beside them. Returns what is queued: at most what refunds have left. */
export function enqueueCredit(change: Change, lines: readonly InvoiceLine[]): readonly InvoiceLine[] {
  if (lines.length === 0) return lines
  const given = givenCredit(change.order, lines)
  set(change, { invoices: given.invoices })
  enqueue(change, given.lines)
  return given.lines
}

/** Takes back what is credited of an invoice and was refunded as well, or never paid. */
export function takeCreditBack(change: Change, sequence: number): void {
  const { reduced: memos, ...values } = takenBack(change.order, sequence, change.at)
  set(change, values)
  for (const reduced of memos) emit(change, 'credit-memo-modified', { reduced })
}

export function enqueue(change: Change, lines: readonly InvoiceLine[]): void {
  if (lines.length > 0) set(change, { queue: [...change.order.queue, ...lines] })
}

/**
 * Voids or abandons an invoice. One that is voided, or of a period that has not begun, returns the credit that it uses and
 * what it took from the queue.
 */
export function endInvoice(change: Change, sequence: number, status: 'voided' | 'abandoned'): void {
  const { at, order } = change
  const invoice = order.invoices.find((one) => one.sequence === sequence)
  if (invoice === undefined) return
  // What returns was queued before this invoice: a reset that begins the period credits the one before at the same instant.
  dropQueuedLines(change, sequence)
  if (status === 'voided' || isComing(order, invoice)) {
    releaseCredit(change, sequence)
    enqueue(change, returnedLines(invoice.lines))
  }
  changeInvoice(change, sequence, {
    status,
    ...(status === 'voided' ? { voidedTime: at } : { abandonedTime: at }),
    delinquencyTime: null,
    chargeTime: null,
  })
  takeCreditBack(change, sequence)
  emit(change, status === 'voided' ? 'invoice-voided' : 'invoice-abandoned', { invoice: sequence })
}

/** Voids the invoices of future periods. Such a period gets a new invoice if it comes. */
export function voidComing(change: Change): void {
  const { order } = change
  const { rebillNumber } = order
  if (rebillNumber === null) return
  const coming = order.invoices.filter((one) => isComing(order, one) && isLive(one))
  for (const { sequence } of coming) endInvoice(change, sequence, 'voided')
  if (coming.length > 0) set(change, { invoicedThrough: rebillNumber })
}

export function isComing({ rebillNumber }: Order, { periodNumber }: Invoice): boolean {
  return periodNumber !== null && rebillNumber !== null && periodNumber > rebillNumber
}

function moveComing(change: Change): void {
  const { order } = change
  const boundary = order.periodEnd
  if (boundary === null) return
  for (const invoice of order.invoices.filter((one) => isComing(order, one) && one.status !== 'voided')) {
    const { sequence, dueTime, chargeTime, periodNumber } = invoice
    const periodEnd = endOfPeriod(order, periodNumber ?? 0)
    changeInvoice(change, sequence, { periodStart: boundary, periodEnd })
    if (!isOpen(invoice)) continue
    const moved = Math.max(0, boundary - (dueTime ?? boundary))
    changeInvoice(change, sequence, {
      ...(dueTime === null ? {} : dueAt(invoice, dueTime + moved, change.at)),
      chargeTime: chargeTime === null ? null : boundary,
    })
  }
}

/** Under another time shift an invoice may be due to have been issued by now: it is issued now. */
export function setTerms(change: Change, terms: OrderTerms): void {
  const [was, is] = [change.order.terms, terms].map((one) => canonicalJson(one.invoiceTimeShift))
  set(change, { terms, ...(was === is ? {} : { notBefore: change.at }) })
}

/** Also moves the anchor of all later boundaries. The current period is billed as ending there. */
export function moveBoundary(change: Change, instant: number): void {
  const { rebillNumber, invoices } = change.order
  const boundary = Math.min(instant, LATEST_INSTANT)
  set(change, { periodEnd: boundary, anchor: boundary, anchorNumber: (rebillNumber ?? 0) + 1 })
  set(change, { notBefore: change.at, remindersFrom: change.at })
  for (const { sequence, status, periodNumber, periodEnd } of invoices) {
    if (periodNumber !== rebillNumber || periodEnd === null || status === 'voided') continue
    if (periodEnd !== boundary) changeInvoice(change, sequence, { periodEnd: boundary })
  }
  moveComing(change)
}

export function changeInvoice(change: Change, sequence: number, values: Partial<Invoice>): void {
  set(change, {
    invoices: change.order.invoices.map((one) => (one.sequence === sequence ? { ...one, ...values } : one)),
  })
}

export function set(change: Change, values: Partial<Order>): void {
  change.order = { ...change.order, ...values }
}

export function emit(change: Change, type: EventType, about: Omit<DomainEvent, 'type'> = {}): void {
  change.events.push({ type, ...about })
}

export function requireStatus(order: Order, statuses: readonly Order['status'][], done: string): void {
  if (statuses.includes(order.status)) return
  throw new ConflictError(`An order that is ${order.status} cannot be ${done}.`)
}
