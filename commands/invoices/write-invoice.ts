/** What the rules return of an invoice, written for orders and own invoices alike: columns, events and timeline. */
import type { EventType } from '../../billing/event-types.ts'
import { amountDue, autopayScheduledTime, type Invoice as InvoiceState } from '../../billing/invoices.ts'
import { Money, sumOf } from '../../billing/money.ts'
import type { Cause, DomainEvent, Transition } from '../../billing/order.ts'
import type { Invoice, Transaction } from '../../db/entities/index.ts'
import { newId } from '../../db/new-id.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { invoiceEvent, invoicePaymentEvent } from '../../events/order-events.ts'
import { orderEntry } from '../../events/timeline.ts'

/** Lines that `known` has keep their ids. */
export function invoiceColumns(state: InvoiceState, known: Invoice['lines']) {
  return {
    type: state.type,
    status: state.status,
    lines: linesWithIds(state.lines, known),
    discounts: [...state.discounts],
    discountAmount: sumOf(state.discounts.map(({ amount }) => amount)),
    amount: state.amount,
    amountDue: amountDue(state),
    periodNumber: state.periodNumber,
    periodStart: date(state.periodStart),
    periodEnd: date(state.periodEnd),
    issuedTime: date(state.issuedTime),
    dueTime: date(state.dueTime),
    delinquencyTime: date(state.delinquencyTime),
    paidTime: date(state.paidTime),
    voidedTime: date(state.voidedTime),
    abandonedTime: date(state.abandonedTime),
    chargeTime: date(state.chargeTime),
    autopayRetryNumber: retriesMade(state),
    attempts: state.attempts,
    declinedTime: date(state.declinedTime),
    declines: state.declines.length === 0 ? null : [...state.declines],
    charge: state.charge,
    amountPaid: state.amountPaid,
    amountRefunded: state.amountRefunded,
    refundedWhileOpen: state.refundedWhileOpen,
    amountCredited: state.amountCredited,
    creditTakenBack: state.creditTakenBack,
    creditWithdrawals: [...state.creditWithdrawals],
    credits: [...state.credits],
    isDisputed: state.isDisputed,
  }
}

export function linesWithIds(lines: InvoiceState['lines'], known: Invoice['lines']): Invoice['lines'] {
  const left = [...known]
  return lines.map((line) => {
    const at = left.findIndex(
      ({ type, itemId, description }) =>
        type === line.type && itemId === line.itemId && description === line.description,
    )
    const [same] = at < 0 ? [] : left.splice(at, 1)
    return { ...line, id: same?.id ?? newId('item') }
  })
}

/** Only a change of what an invoice shows is a revision. */
export function showsChange(before: InvoiceState, after: InvoiceState): boolean {
  return before !== after && publicFields(before) !== publicFields(after)
}

function publicFields(invoice: InvoiceState): string {
  const {
    chargeTime,
    declinedTime,
    declines,
    charge,
    attempts,
    isDisputed,
    amountPaid,
    amountRefunded,
    refundedWhileOpen,
    amountCredited,
    creditTakenBack,
    creditWithdrawals,
    ...visible
  } = invoice
  return JSON.stringify({
    ...visible,
    autopayScheduledTime: autopayScheduledTime(invoice),
    retries: retriesMade(invoice),
    due: new Money(amountDue(invoice)),
  })
}

function retriesMade({ attempts }: Pick<InvoiceState, 'attempts'>): number {
  return Math.max(0, attempts - 1)
}

/** Returns an event for each invoice whose public fields changed in a transition without an event of its own. */
export function unreportedChanges(
  before: readonly InvoiceState[],
  { order, events }: Transition,
  transaction: Transaction | null,
): DomainEvent[] {
  return order.invoices.flatMap((invoice) => {
    const { sequence } = invoice
    const was = before.find((one) => one.sequence === sequence)
    if (was === undefined || !showsChange(was, invoice)) return []
    const hasEvent = events.some(
      (one) => one.invoice === sequence && (transaction !== null || one.ofTransaction !== true),
    )
    return hasEvent ? [] : [{ type: 'invoice-modified', invoice: sequence }]
  })
}

/** `before` is the status that the invoice had. */
export function emitInvoiceEvent(
  unit: UnitOfWork,
  invoice: Invoice,
  { type, ofTransaction }: { readonly type: EventType; readonly ofTransaction?: boolean },
  {
    time,
    cause,
    before,
    transaction,
  }: {
    readonly time: Date
    readonly cause: Cause
    readonly before: string | null
    readonly transaction: Transaction | null
  },
): void {
  if (ofTransaction === true) {
    // Nothing was charged, so there is no payment event.
    if (transaction === null) return
    unit.emit(invoicePaymentEvent(transaction, invoice, type, time, unit.baseUrl))
  } else unit.emit(invoiceEvent(invoice, type, time, unit.baseUrl))
  const { id, status, subscriptionId = null, customerId } = invoice
  const about = { order: { id: subscriptionId, customerId }, invoice: { id, status, before } }
  unit.addTimelineEntry(orderEntry(type, about, time, cause))
}

export function numberIfIssued(unit: UnitOfWork, invoice: Invoice): void {
  if (invoice.issuedTime != null && invoice.invoiceNumber == null) unit.issue(invoice)
}

function date(instant: number | null): Date | null {
  return instant === null ? null : new Date(instant)
}
