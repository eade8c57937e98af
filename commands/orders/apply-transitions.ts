import { canonicalJson } from '../../billing/canonical-json.ts'
import type { Invoice as InvoiceState } from '../../billing/invoices.ts'
import { isZero, plainAmount } from '../../billing/money.ts'
import {
  type DomainEvent,
  isComing,
  type Order,
  type Pause,
  renewalTime,
  type Transition,
} from '../../billing/order.ts'
import { monthlyRecurringRevenue } from '../../billing/recurring-revenue.ts'
import { nextReminder, type ReminderKind } from '../../billing/reminders.ts'
import { raiseRevisionOnce } from '../../db/change-row.ts'
import { Invoice, type Subscription, SubscriptionPause, type Transaction } from '../../db/entities/index.ts'
import { newId } from '../../db/new-id.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { couponEvent } from '../../events/coupon-events.ts'
import { invoiceEvent, subscriptionEvent } from '../../events/order-events.ts'
import { discountEntry, orderEntry } from '../../events/timeline.ts'
import {
  emitInvoiceEvent,
  invoiceColumns,
  numberIfIssued,
  showsChange,
  unreportedChanges,
} from '../invoices/write-invoice.ts'
import { addMemoOfOrder, reduceMemos, writeCredit } from './credit.ts'
import { eventTime } from './event-time.ts'
import type { OrderRecord } from './order-record.ts'

/**
 * Writes transitions, oldest first; the events of each hold the records as they stood then. A row's revision
 * rises once per commit, if public fields changed. `transaction` is the one whose result caused the
 * transitions.
 */
export function applyTransitions(
  unit: UnitOfWork,
  record: OrderRecord,
  transitions: readonly Transition[],
  transaction: Transaction | null = null,
): void {
  for (const transition of transitions) {
    if (transition.order === record.order && transition.events.length === 0) continue
    const before = record.order
    if (publicFields(before) !== publicFields(transition.order)) raiseRevisionOnce(record.row, unit, record)
    record.order = transition.order
    writeOrder(record.row, transition.order)
    for (const invoice of transition.order.invoices) {
      const was = before.invoices.find(({ sequence }) => sequence === invoice.sequence)
      if (was === invoice) continue
      writeInvoice(unit, record, invoice, was ?? null)
      if (invoice.status !== was?.status && endsUndelivered(transition.order, invoice)) {
        record.toRefund.add(invoice.sequence)
      }
    }
    for (const pause of transition.order.pauses) {
      if (!before.pauses.includes(pause)) writePause(unit, record, pause)
    }
    endCancellation(unit, record, before, transition)
    writeSummary(record)
    const unemitted = unreportedChanges(before.invoices, transition, transaction)
    const events = [...transition.events, ...unemitted]
    if (events.length === 0) continue
    const time = eventTime(record.row, transition.at)
    for (const event of events) {
      const when = { time, cause: transition.cause }
      if (event.type === 'credit-memo-created') addMemoOfOrder(unit, record, event, when)
      else if (event.reduced === undefined) emitEvent(unit, record, when, event, before, transaction)
    }
    for (const invoice of transition.order.invoices) {
      const was = before.invoices.find(({ sequence }) => sequence === invoice.sequence)
      if (was === invoice) continue
      emitDiscounts(unit, record, transition, invoice, was ?? null)
      writeCredit(unit, record, { time, cause: transition.cause }, invoice, was ?? null)
    }
    // After what invoices release of the same memos.
    reduceMemos(unit, record, transition.events, { time, cause: transition.cause })
  }
}

function endsUndelivered(order: Order, invoice: InvoiceState): boolean {
  if (isZero(invoice.amountPaid)) return false
  return invoice.status === 'voided' || (invoice.status === 'abandoned' && isComing(order, invoice))
}

function writeOrder(row: Subscription, order: Order): void {
  Object.assign(row, {
    status: order.status,
    activationTime: date(order.activationTime),
    notBefore: new Date(order.notBefore),
    voidTime: date(order.voidTime),
    canceledTime: date(order.canceledTime),
    churnTime: date(order.churnTime),
    canceledBy: order.canceledBy,
    cancelCategory: order.cancelCategory,
    cancelDescription: order.cancelDescription,
    inTrial: order.inTrial,
    isTrialConverted: order.isTrialConverted,
    trialConversionTime: date(order.trialConversionTime),
    rebillNumber: order.rebillNumber,
    invoicedThrough: order.invoicedThrough,
    anchorTime: date(order.anchor),
    anchorNumber: order.anchorNumber,
    periodStart: date(order.periodStart),
    periodEnd: date(order.periodEnd),
    renewalTime: date(renewalTime(order)),
    nextInvoice: order.nextInvoice,
    lateChargeTime: date(order.lateChargeTime),
    declinedRenewals: order.declinedRenewals,
    remindersFrom: new Date(order.remindersFrom),
    ...reminderColumns(order),
    pausedPeriod: order.paused,
    proratesChurn: order.proratesChurn,
    changedPeriod: order.changedPeriod,
  })
  if (canonicalJson(row.queuedLines) !== canonicalJson(order.queue)) row.queuedLines = [...order.queue]
  const mrr = monthlyRecurringRevenue(order)
  if (plainAmount(row.mrr) !== mrr) row.mrr = mrr
}

function reminderColumns(order: Order) {
  const next = nextReminder(order)
  const time = (kind: ReminderKind) => date(next?.kind === kind ? next.at : null)
  const { renewal, trialEnd, abandon } = order.remindersSent
  return {
    renewalReminderTime: time('renewal'),
    renewalReminderNumber: renewal || null,
    trialReminderTime: time('trialEnd'),
    trialReminderNumber: trialEnd || null,
    abandonReminderTime: time('abandon'),
    abandonReminderNumber: abandon || null,
  }
}

/** Only a change of these is a revision. */
function publicFields(order: Order): string {
  const {
    terms,
    notBefore,
    proratesChurn,
    changedPeriod,
    paused,
    invoicedThrough,
    anchor,
    anchorNumber,
    periodStart,
    lateChargeTime,
    declinedRenewals,
    remindersFrom,
    credit,
    ...visible
  } = order
  return JSON.stringify({
    ...visible,
    renewalTime: renewalTime(order),
    nextReminder: nextReminder(order),
    invoices: order.invoices.map(({ sequence, status }) => [sequence, status]),
  })
}

function writeInvoice(
  unit: UnitOfWork,
  record: OrderRecord,
  state: InvoiceState,
  before: InvoiceState | null,
): void {
  const { row } = record
  const known = record.invoices.get(state.sequence)
  const values = invoiceColumns(state, known?.lines ?? [])
  if (known !== undefined) {
    if (before === null || showsChange(before, state)) raiseRevisionOnce(known, unit, record)
    // A draft takes its order's new currency; an issued invoice keeps its own.
    Object.assign(known, values, before?.status === 'draft' ? { currency: row.currency } : {})
    numberIfIssued(unit, known)
    return
  }
  const { upcomingId = newId('in') } = record
  delete record.upcomingId
  const made = {
    id: upcomingId,
    subscriptionId: row.id,
    customerId: row.customerId,
    websiteId: row.websiteId,
    sequence: state.sequence,
    currency: row.currency,
    ...values,
    ...annotationsOf(row),
  }
  const invoice = record.isNew ? unit.insert(Invoice, made) : unit.create(Invoice, made)
  record.invoices.set(state.sequence, invoice)
  record.changedRows.add(invoice)
  numberIfIssued(unit, invoice)
}

function annotationsOf({ poNumber, notes, billingAddress, deliveryAddress }: Subscription) {
  return {
    poNumber: poNumber ?? null,
    notes: notes ?? null,
    billingAddress: billingAddress ?? null,
    deliveryAddress: deliveryAddress ?? null,
  }
}

function writePause(unit: UnitOfWork, record: OrderRecord, { id, ...state }: Pause): void {
  const values = {
    status: state.status,
    effectiveTime: new Date(state.effectiveTime),
    endTime: date(state.endTime),
    timeRemaining: state.timeRemaining,
  }
  const known = record.pauses.get(id)
  if (known !== undefined) {
    raiseRevisionOnce(known, unit, record)
    Object.assign(known, values)
    return
  }
  const pause = unit.create(SubscriptionPause, {
    id,
    subscriptionId: record.row.id,
    ...values,
    pausedBy: 'merchant',
    description: null,
  })
  record.pauses.set(id, pause)
  record.changedRows.add(pause)
}

/** Completes the cancellation when service has ended; revokes it when the order goes on. */
function endCancellation(unit: UnitOfWork, record: OrderRecord, before: Order, transition: Transition): void {
  const { row, order, cancellation } = record
  if (order.canceledTime === null) row.cancellationId = null
  if (cancellation === null || order.status === 'canceled' || before.status !== 'canceled') return
  raiseRevisionOnce(cancellation, unit, record)
  cancellation.status = order.status === 'churned' ? 'completed' : 'revoked'
  Object.assign(cancellation, churnCreditColumns(record, transition))
}

export function churnCreditColumns({ row, order, invoices }: OrderRecord, { events }: Transition) {
  const credit = events.find(({ type }) => type === 'subscription-churned')?.credit ?? []
  const billed = order.invoices.findLast(({ periodNumber }) => periodNumber === order.rebillNumber)
  return {
    creditLines: [...credit],
    currency: row.currency,
    proratedInvoiceId: credit.length === 0 ? null : (invoices.get(billed?.sequence ?? 0)?.id ?? null),
  }
}

export function annotateDrafts(unit: UnitOfWork, record: OrderRecord, instant: number): void {
  for (const invoice of record.invoices.values()) {
    if (invoice.status !== 'draft') continue
    raiseRevisionOnce(invoice, unit, record)
    Object.assign(invoice, annotationsOf(record.row))
    unit.emit(invoiceEvent(invoice, 'invoice-modified', eventTime(record.row, instant), unit.baseUrl))
  }
}

function writeSummary({ row, order, invoices }: OrderRecord): void {
  const initial = order.invoices.find(({ type }) => type === 'initial')
  const recent = order.invoices.find(({ sequence }) => sequence === order.nextInvoice - 1)
  if (initial !== undefined) row.initialInvoiceId = invoices.get(initial.sequence)?.id ?? null
  if (recent === undefined) return
  row.recentInvoiceId = invoices.get(recent.sequence)?.id ?? null
  row.billingStatus = recent.status
}

function emitEvent(
  unit: UnitOfWork,
  record: OrderRecord,
  { time, cause }: { readonly time: Date; readonly cause: Transition['cause'] },
  event: DomainEvent,
  before: Order,
  transaction: Transaction | null,
): void {
  const { row } = record
  const { type, pause } = event
  const invoice = event.invoice === undefined ? undefined : record.invoices.get(event.invoice)
  const was = before.invoices.find(({ sequence }) => sequence === event.invoice)?.status ?? null
  if (invoice !== undefined && type !== 'renewal-invoice-issued') {
    emitInvoiceEvent(unit, invoice, event, { time, cause, before: was, transaction })
    return
  }
  unit.emit(
    subscriptionEvent(row, type, time, unit.baseUrl, {
      ...(pause === undefined ? {} : { subscriptionPauseId: pause }),
      ...(invoice === undefined ? {} : { invoice }),
    }),
  )
  const about = {
    order: row,
    ...(invoice === undefined ? {} : { invoice: { id: invoice.id, status: invoice.status, before: was } }),
    ...(pause === undefined ? {} : { pauseId: pause }),
  }
  unit.addTimelineEntry(orderEntry(type, about, time, cause))
}

function emitDiscounts(
  unit: UnitOfWork,
  record: OrderRecord,
  { at, cause }: Transition,
  invoice: InvoiceState,
  before: InvoiceState | null,
): void {
  const invoiceId = record.invoices.get(invoice.sequence)?.id
  if (invoiceId === undefined) return
  const isIn = (discounts: InvoiceState['discounts'], redemptionId: string) =>
    discounts.some((one) => one.redemptionId === redemptionId)
  const [now, then] = [invoice.discounts, before?.discounts ?? []]
  const changes = [
    ...then
      .filter(({ redemptionId }) => !isIn(now, redemptionId))
      .map((one) => ['coupon-application-removed', one] as const),
    ...now
      .filter(({ redemptionId }) => !isIn(then, redemptionId))
      .map((one) => ['coupon-applied', one] as const),
  ]
  const { row: order } = record
  for (const [type, { couponId, redemptionId }] of changes) {
    const coupon = record.coupons.get(couponId)
    if (coupon !== undefined) {
      const { customerId, websiteId } = order
      unit.emit(couponEvent(coupon, type, unit, { redemptionId, customerId, websiteId }))
    }
    unit.addTimelineEntry(discountEntry(type, { couponId, order, invoiceId }, new Date(at), cause))
  }
}

function date(instant: number | null): Date | null {
  return instant === null ? null : new Date(instant)
}
