/** Pure functions: none moves money. */
import { isRetrying, LATENESS, nextRetry } from './charging.ts'
import { allocateCredit, type CreditAllocation, mergedCredit, withoutCredit } from './credit-memos.ts'
import {
  type Decline,
  type DeclinedCharge,
  declinedRenewalsAfter,
  declinesAfter,
  endsWait,
  isForNewInstrument,
  isHeld,
  NO_INSTRUMENT,
  paydayRetry,
  waitsForInstrument,
} from './dunning.ts'
import { ConflictError } from './errors.ts'
import type { EventType } from './event-types.ts'
import { creditPaidBack } from './given-credit.ts'
import {
  amountDue,
  dueWhenLate,
  type Invoice,
  type InvoiceStatus,
  isLive,
  isOpen,
  isUncharged,
  moneyStatus,
  surplusOf,
} from './invoices.ts'
import { isZero, Money, sumOf } from './money.ts'
import {
  activate,
  type Change,
  changeInvoice,
  emit,
  isComing,
  keepCredit,
  mayCharge,
  type Order,
  ongoingPause,
  set,
  type Transition,
  takeCreditBack,
  transition,
} from './order.ts'
import { complete, convertTrial } from './order-lifecycle.ts'

/**
 * A charge over an hour late counts as made now, and a first one moves the due and delinquency times. None begins, and none
 * is planned any more, where the only instrument that is left was declined for good: the one it was planned for is gone.
 */
export function beginCharge(order: Order, now: number, sequence: number): Transition {
  const invoice = openInvoice(order, sequence)
  if (isHeld(order, invoice)) {
    return transition(order, now, 'timer', (change) => dropRetry(change, invoice))
  }
  const due = invoice.chargeTime ?? now
  const isLate = now - due > LATENESS
  const at = isLate ? now : due
  return transition(order, now, 'timer', (change) => {
    changeInvoice(change, sequence, {
      attempts: invoice.attempts + 1,
      chargeTime: null,
      charge: { isOwn: true, at, answer: 'none', askTime: at },
      ...(isLate && invoice.attempts === 0 ? dueWhenLate(invoice, order.terms, at) : {}),
    })
    if (isLate) set(change, { lateChargeTime: at })
  })
}

/**
 * The order makes no charge of its own until the caller's has an outcome.
 * @throws ConflictError while another charge of the invoice is in progress.
 */
export function beginCallersCharge(order: Order, at: number, sequence: number): Transition {
  const invoice = openInvoice(order, sequence)
  requireNoCharge(invoice)
  return transition(order, at, 'api', (change) => {
    changeInvoice(change, sequence, { charge: { isOwn: false, at, answer: 'unknown', askTime: null } })
  })
}

/** @throws ConflictError while the outcome of a charge of the invoice is not known. */
export function requireNoCharge({ charge }: Pick<Invoice, 'charge'>): void {
  if (charge === null) return
  throw new ConflictError('A charge of the invoice is in progress. Try again when its outcome is known.')
}

export function leaveChargeUnknown(
  order: Order,
  at: number,
  sequence: number,
  askTime: number | null,
): Transition {
  return transition(order, at, 'payment', (change) => {
    const charge = order.invoices.find((one) => one.sequence === sequence)?.charge
    const answer = charge?.answer === 'timed-out' ? charge.answer : 'unknown'
    changeCharge(change, sequence, { answer, askTime })
  })
}

/** Counts a charge that was unknown for a day as declined. No other charge starts before its outcome is known. */
export function timeOutCharge(
  order: Order,
  at: number,
  sequence: number,
  askTime: number | null,
  instrumentId: string | null = null,
): Transition {
  return transition(order, at, 'deadline', (change) => {
    changeCharge(change, sequence, { answer: 'timed-out', askTime })
    countDecline(change, sequence, { class: null, instrumentId })
  })
}

export function declineCharge(
  order: Order,
  at: number,
  sequence: number,
  declined: DeclinedCharge = NO_INSTRUMENT,
): Transition {
  return transition(order, at, 'payment', (change) => {
    const invoice = change.order.invoices.find((one) => one.sequence === sequence)
    if (invoice === undefined) return
    const { charge, chargeTime } = invoice
    changeInvoice(change, sequence, { charge: null })
    if (charge === null || (charge.isOwn && charge.answer !== 'timed-out')) {
      countDecline(change, sequence, declined)
    } else if (charge.isOwn) learnDecline(change, sequence, declined)
    // A retry that waited for this result is due now.
    else if (chargeTime !== null) {
      changeInvoice(change, sequence, { chargeTime: Math.max(chargeTime, at) })
    }
    if (invoice.type === 'renewal') {
      emit(change, 'renewal-invoice-payment-declined', { invoice: sequence, ofTransaction: true })
    }
  })
}

/**
 * The gateway never received the charge, and never will. That is no decline:
 * an automatic charge of an invoice that is still open is due again at once, as another attempt; before the start of
 * a pending order, at that.
 */
export function cancelCharge(order: Order, at: number, sequence: number): Transition {
  return transition(order, at, 'payment', (change) => {
    const invoice = change.order.invoices.find((one) => one.sequence === sequence)
    if (invoice === undefined) return
    const { charge, chargeTime, type } = invoice
    const isDue = charge?.isOwn === true && charge.answer !== 'timed-out' && isOpen(invoice)
    if (isDue) {
      const isAgain = isRetrying(order) && mayCharge(order)
      changeInvoice(change, sequence, { charge: null, chargeTime: isAgain ? dueAgain(order, at) : null })
    } else {
      const waited = chargeTime === null ? null : Math.max(chargeTime, at)
      changeInvoice(change, sequence, { charge: null, chargeTime: waited })
    }
    if (type === 'renewal') {
      emit(change, 'renewal-invoice-payment-canceled', { invoice: sequence, ofTransaction: true })
    }
  })
}

export interface Payment {
  readonly transition: Transition
  /** The part applied to the invoice: at most what was due. */
  readonly used: string
}

/**
 * A pending order begins, a one-time sale completes. What exceeds the amount due is not used. `instrumentId`: what was charged;
 * null: nothing was, or it is not known.
 */
export function receivePayment(
  order: Order,
  at: number,
  sequence: number,
  amount: string,
  instrumentId: string | null = null,
): Payment {
  const invoice = order.invoices.find((one) => one.sequence === sequence)
  const used = invoice === undefined ? '0' : Money.min(amount, amountDue(invoice)).toFixed()
  const made = transition(order, at, 'payment', (change) => {
    if (invoice === undefined) return
    changeInvoice(change, sequence, { charge: null })
    const isApproval = invoice.charge?.isOwn || order.declinedRenewals?.instrumentId === instrumentId
    if (isApproval && !waitsForInstrument(order)) set(change, { declinedRenewals: null })
    if (isOpen(invoice) && (!isZero(used) || isZero(amountDue(invoice)))) applyPayment(change, invoice, used)
  })
  return { transition: made, used }
}

/** @throws ConflictError for an invoice that is not open. */
export function payInvoice(order: Order, at: number, sequence: number): Transition {
  return receivePayment(order, at, sequence, amountDue(openInvoice(order, sequence))).transition
}

/**
 * Applies credit in the order given: at most `amount`, and at most what is due. An invoice that is wholly covered
 * is paid, without a transaction (decisions 6.3). @throws ConflictError for one not open or being charged.
 */
export function creditInvoice(
  order: Order,
  at: number,
  sequence: number,
  credit: Order['credit'],
  amount: string | null = null,
): { readonly transition: Transition; readonly used: readonly CreditAllocation[] } {
  const invoice = openInvoice(order, sequence)
  requireNoCharge(invoice)
  const due = amountDue(invoice)
  const most = amount === null ? due : Money.min(amount, due).toFixed()
  const used = allocateCredit(most, order.terms.currency, credit)
  const made = transition(order, at, 'api', (change) => {
    if (used.length === 0) return
    const credits = mergedCredit(invoice.credits, used)
    set(change, { credit: withoutCredit(order.credit, used) })
    changeInvoice(change, sequence, { credits })
    if (isZero(amountDue({ ...invoice, credits }))) applyPayment(change, { ...invoice, credits }, '0')
  })
  return { transition: made, used }
}

/**
 * Counts a refund, or with a negative amount one that failed after all: an invoice that payments since then cover is paid,
 * and what exceeds its amount is no payment of it any more. What was credited of the invoice beyond what it has left is taken
 * back; `paysCredit`: the refund pays back a credit memo, so that it is not credited besides. An invoice that is voided or
 * abandoned has no credit of its own.
 */
export function refundInvoice(
  order: Order,
  at: number,
  sequence: number,
  amount: string,
  paysCredit = false,
): Transition {
  return transition(order, at, 'payment', (change) => {
    const invoice = change.order.invoices.find((one) => one.sequence === sequence)
    if (invoice === undefined) return
    const refunded = { ...invoice, amountRefunded: sumOf([invoice.amountRefunded, amount]) }
    // Only what was refunded while the invoice was open can have been paid twice.
    const failed = Money.max(new Money(amount).negated(), 0)
    const surplus = Money.min(surplusOf(refunded), failed, invoice.refundedWhileOpen)
    const amountPaid = new Money(invoice.amountPaid).minus(surplus).toFixed()
    const reopened = isOpen(invoice) ? amount : surplus.negated()
    changeInvoice(change, sequence, {
      amountRefunded: refunded.amountRefunded,
      refundedWhileOpen: Money.max(new Money(invoice.refundedWhileOpen).plus(reopened), 0).toFixed(),
      amountPaid,
      ...(paysCredit && isLive(invoice) ? creditPaidBack(invoice, amount) : {}),
    })
    if (!payCovered(change, sequence)) updateMoneyStatus(change, sequence, invoice)
    takeCreditBack(change, sequence)
    keepCredit(change)
  })
}

/** Pays an open invoice of which nothing is due any more. False: something is, or it is not open. */
function payCovered(change: Change, sequence: number): boolean {
  const invoice = change.order.invoices.find((one) => one.sequence === sequence)
  if (invoice === undefined || !isOpen(invoice) || !isZero(amountDue(invoice))) return false
  const kept = new Money(invoice.amountPaid).minus(invoice.amountRefunded)
  const before = { ...invoice, amountPaid: new Money(invoice.amountPaid).minus(kept).toFixed() }
  applyPayment(change, before, kept.toFixed())
  return true
}

export function disputeInvoice(order: Order, at: number, sequence: number, isDisputed: boolean): Transition {
  return transition(order, at, 'payment', (change) => {
    const invoice = order.invoices.find((one) => one.sequence === sequence)
    if (invoice === undefined) return
    changeInvoice(change, sequence, { isDisputed })
    updateMoneyStatus(change, sequence, invoice)
  })
}

/**
 * Switches automatic charges on or off, or changes the instrument. Without autopay nothing is charged or retried;
 * with it declined invoices are retried: at once by an instrument that was not declined for them. `hasNewInstrument`: what no
 * instrument was charged for yet is charged at once too.
 */
export function changeAutopay(
  order: Order,
  at: number,
  terms: Order['terms'],
  autopay: boolean,
  hasNewInstrument = false,
): Transition {
  return transition(order, at, 'api', (change) => {
    set(change, { terms })
    for (const invoice of order.invoices) {
      if (invoice.charge !== null || !isOpen(invoice)) continue
      const retry = autopay && terms.canCharge ? nextRetry(change.order, invoice, at) : null
      const isMoved = isForNewInstrument(change.order, invoice) && (invoice.chargeTime ?? at) >= at
      const kept = isMoved || isHeld(change.order, invoice) ? null : invoice.chargeTime
      const chargeTime = autopay ? (kept ?? retry) : null
      if (chargeTime !== invoice.chargeTime) changeInvoice(change, invoice.sequence, { chargeTime })
    }
    if (autopay && endsWait(order, terms)) chargeAllOpen(change)
    else if (autopay && hasNewInstrument) chargeNow(change, ({ declines }) => declines.length === 0)
    const initial = change.order.invoices.find(({ type }) => type === 'initial')
    // An initial invoice that is never going to be charged does not delay the start.
    if (order.status !== 'pending' || initial === undefined || terms.startTime > at) return
    if (isOpen(initial) && isUncharged(initial)) activate(change, terms.startTime)
  })
}

/** Makes open invoices due for a new instrument: at once, at the start, after the pause, or at their boundaries. */
export function chargeOpen(order: Order, at: number): Transition {
  return transition(order, at, 'api', (change) => {
    if (!order.terms.canCharge) return
    for (const { sequence, declines } of order.invoices.filter(isOpen)) {
      if (declines.length > 0) changeInvoice(change, sequence, { declines: [] })
    }
    chargeAllOpen(change)
  })
}

/** A new expiry of a backup forgets what that was declined for. What the others were declined for stays known. */
export function withoutDeclinesOf(order: Order, instrumentId: string): Order {
  const isOther = (one: Decline) => one.instrumentId !== instrumentId
  const invoices = order.invoices.map((invoice) =>
    !isOpen(invoice) || invoice.declines.every(isOther)
      ? invoice
      : { ...invoice, declines: invoice.declines.filter(isOther) },
  )
  return { ...order, invoices }
}

function chargeAllOpen(change: Change): void {
  if (!change.order.terms.canCharge) return
  set(change, { declinedRenewals: null })
  chargeNow(change)
}

function chargeNow(change: Change, fits: (invoice: Invoice) => boolean = () => true): void {
  const { order, at } = change
  if (!order.terms.canCharge || !isRetrying(order)) return
  const earliest = soonestCharge(order, at)
  for (const invoice of order.invoices.filter(fits)) {
    const { sequence, charge, chargeTime } = invoice
    if (!isOpen(invoice) || charge !== null || isComing(order, invoice) || isHeld(order, invoice)) continue
    if (chargeTime === null || chargeTime > earliest)
      changeInvoice(change, sequence, { chargeTime: earliest })
  }
}

function soonestCharge({ status, terms }: Order, at: number): number {
  return status === 'pending' ? Math.max(terms.startTime, at) : at
}

/** What could be charged although the order is paused was due before the pause, and still is. */
function dueAgain(order: Order, at: number): number {
  const soonest = soonestCharge(order, at)
  const pause = ongoingPause(order)
  return pause === null ? soonest : Math.min(soonest, pause.effectiveTime - 1)
}

function applyPayment(change: Change, invoice: Invoice, amount: string): void {
  const { order, at } = change
  const { sequence } = invoice
  const isFull = new Money(amount).equals(amountDue(invoice))
  const amountPaid = sumOf([invoice.amountPaid, amount])
  if (!isFull) {
    const status = invoice.status === 'past-due' ? invoice.status : 'partially-paid'
    changeInvoice(change, sequence, { amountPaid, status })
    emit(change, 'invoice-partially-paid', { invoice: sequence })
    return
  }
  changeInvoice(change, sequence, {
    amountPaid,
    status: invoice.isDisputed ? 'disputed' : 'paid',
    paidTime: at,
    delinquencyTime: null,
    chargeTime: null,
  })
  emit(change, 'invoice-paid', { invoice: sequence })
  if (order.status === 'pending' && invoice.type === 'initial') beginService(change, invoice)
  const { terms } = order
  // The plans may have changed since; only the first period shows whether there was a trial.
  const trial = order.invoices.find(({ type, periodNumber }) => type === 'initial' && periodNumber === 0)
  const isAfterTrial = trial !== undefined && !order.inTrial && followsTrial(invoice, trial)
  // Credit alone is no payment that follows a trial (specification 2.6).
  if (isAfterTrial && !isZero(amountPaid)) convertTrial(change)
  const isSold = !change.order.invoices.some((one) => one.type === 'initial' && isOpen(one))
  const isOneTime = terms.trial === null && terms.interval === null
  if (change.order.status === 'active' && isOneTime && isSold) complete(change)
}

/** True for a renewal, and for what is billed between renewals for time after the trial. */
function followsTrial({ type, periodStart }: Invoice, { periodEnd }: Invoice): boolean {
  if (type !== 'interim') return type === 'renewal'
  return periodStart !== null && periodEnd !== null && periodStart >= periodEnd
}

/** Service begins as of the planned start, unless a charge was declined before. */
function beginService(change: Change, { declinedTime, charge, issuedTime }: Invoice): void {
  const { startTime } = change.order.terms
  if (startTime > change.at) return
  if (declinedTime !== null) activate(change, Math.max(startTime, change.at))
  else activate(change, startTime, charge?.isOwn ? Math.max(startTime, issuedTime ?? change.at) : change.at)
}

function countDecline(change: Change, sequence: number, charge: DeclinedCharge): void {
  const invoice = change.order.invoices.find((one) => one.sequence === sequence)
  if (invoice === undefined || !isOpen(invoice)) return
  const declinedTime = invoice.declinedTime ?? change.at
  const declines = declinesAfter(invoice.declines, charge)
  const chargeTime = nextRetry(change.order, { ...invoice, declinedTime, declines }, change.at)
  changeInvoice(change, sequence, { declinedTime, declines, chargeTime })
  if (chargeTime === null) countRenewal(change, invoice, charge)
}

/** The charge had counted as declined already: a retry that waited for it is due now, or is not made. */
function learnDecline(change: Change, sequence: number, charge: DeclinedCharge): void {
  const invoice = change.order.invoices.find((one) => one.sequence === sequence)
  if (invoice === undefined || !isOpen(invoice)) return
  const declines = declinesAfter(invoice.declines, charge)
  const known = { ...invoice, declines }
  const { order, at } = change
  const waited = invoice.chargeTime === null ? null : Math.max(invoice.chargeTime, at)
  const isOtherwise = isHeld(order, known) || isForNewInstrument(order, known)
  const moved = waited === null ? null : (paydayRetry(order, known, at) ?? waited)
  const chargeTime = isOtherwise ? nextRetry(order, known, at) : moved
  changeInvoice(change, sequence, { declines, chargeTime })
  if (chargeTime === null && waited !== null) countRenewal(change, invoice, charge)
}

/** No retry is left: the renewal counts as declined, for the instrument that is left. */
function dropRetry(change: Change, invoice: Invoice): void {
  changeInvoice(change, invoice.sequence, { chargeTime: null })
  if (waitsForInstrument(change.order)) return
  const { instrumentId } = change.order.terms
  const decline = invoice.declines.find((one) => one.instrumentId === instrumentId)
  if (decline !== undefined) countRenewal(change, invoice, decline)
}

/** After too many renewals declined in a row, nothing is charged any more. Amounts that no gateway takes do not count. */
function countRenewal(
  change: Change,
  { type, sequence: invoice }: Invoice,
  { instrumentId, class: reason }: DeclinedCharge,
): void {
  if (type !== 'renewal' || instrumentId === null || reason === 'amount') return
  const { declinedRenewals: before, terms, invoices } = change.order
  const counted = declinedRenewalsAfter(before, terms, { instrumentId, invoice })
  const open = new Set(invoices.filter(isOpen).map(({ sequence }) => sequence))
  set(change, { declinedRenewals: { ...counted, invoices: counted.invoices.filter((one) => open.has(one)) } })
  if (!waitsForInstrument(change.order)) return
  for (const { sequence, chargeTime } of change.order.invoices) {
    if (chargeTime !== null) changeInvoice(change, sequence, { chargeTime: null })
  }
}

/** A refund is told when it is made, also of a disputed invoice; a dispute that begins or ends is none. */
function updateMoneyStatus(change: Change, sequence: number, before: Invoice): void {
  const invoice = change.order.invoices.find((one) => one.sequence === sequence)
  if (invoice === undefined) return
  const status = moneyStatus(invoice, change.at)
  if (status !== invoice.status) changeInvoice(change, sequence, { status })
  const [was, is] = [before, invoice].map((one) => moneyStatus({ ...one, isDisputed: false }, change.at))
  const type = is === undefined || is === was ? undefined : MONEY_EVENTS[is]
  if (type !== undefined) emit(change, type, { invoice: sequence })
}

const MONEY_EVENTS: Partial<Record<InvoiceStatus, EventType>> = {
  'partially-paid': 'invoice-partially-paid',
  refunded: 'invoice-refunded',
  'partially-refunded': 'invoice-partially-refunded',
}

function changeCharge(
  change: Change,
  sequence: number,
  values: Partial<NonNullable<Invoice['charge']>>,
): void {
  const charge = change.order.invoices.find((one) => one.sequence === sequence)?.charge
  if (charge != null) changeInvoice(change, sequence, { charge: { ...charge, ...values } })
}

function openInvoice(order: Order, sequence: number): Invoice {
  const invoice = order.invoices.find((one) => one.sequence === sequence)
  if (invoice !== undefined && isOpen(invoice)) return invoice
  throw new ConflictError(
    'The invoice is not open: only one that is unpaid, past due or partially paid can be paid.',
  )
}
