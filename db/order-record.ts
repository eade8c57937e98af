/** Between an order's rows and the rules of its life cycle: loads what they read, writes what they say. */
import { parseDuration } from '../billing/durations.ts'
import { amountDue, type Invoice as InvoiceState, type InvoiceStatus } from '../billing/invoices.ts'
import { isZero, Money } from '../billing/money.ts'
import { type Happening, isComing, type Order, type Pause, renewalTime, type Step } from '../billing/order.ts'
import { clockTime, type OrderClock } from '../billing/order-clock.ts'
import { agreedTerms, type OrderTerms } from '../billing/order-terms.ts'
import { type ChargeTerms, readChargeTerms, UNCHARGED } from './charge-terms.ts'
import { Invoice, type Subscription, SubscriptionPause, type Transaction } from './entities/index.ts'
import { newId } from './ids.ts'
import { invoiceEvent, invoicePaymentEvent, subscriptionEvent } from './subscription-events.ts'
import { timelineMessage } from './timeline-message.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/** An order with the rows that can still change, all locked by the order's row. */
export interface OrderRecord {
  readonly row: Subscription
  /** It is being placed: nothing of the unit reads it from the database. */
  readonly isNew: boolean
  readonly invoices: Map<number, Invoice>
  readonly pauses: Map<string, SubscriptionPause>
  order: Order
  readonly charging: ChargeTerms
  /** Invoices that ended with nothing delivered for their money, which has to go back; by sequence. */
  readonly toRefund: Set<number>
  /** Rows whose revision this commit has raised. */
  readonly raised: Set<object>
}

/** What the rules of its clock read of an order's row. */
type ClockColumns = Pick<Subscription, 'clockOffset' | 'movingTo' | 'settledThrough'>

/** The order's own clock. */
export function orderClock({ clockOffset, movingTo, settledThrough }: ClockColumns): OrderClock {
  return {
    offset: clockOffset,
    target: milliseconds(movingTo),
    settledThrough: milliseconds(settledThrough),
  }
}

/** The instant a command at real time happens at, on the order's own clock. */
export function orderInstant({ now }: Pick<UnitOfWork, 'now'>, row: ClockColumns): number {
  return clockTime(orderClock(row), now.getTime())
}

/** What of an order is read besides what can change by itself. */
export interface Loading {
  /** Takes an order whose rows cannot be read as an order, which is left out; without it that is thrown. */
  readonly unreadable?: (row: Subscription, error: unknown) => void
  /** Invoices a payment, a refund or a dispute is about. */
  readonly invoiceIds?: readonly string[]
}

/** Reads the record of a locked order as it stands at an instant of its clock. */
export async function loadOrder(
  unit: UnitOfWork,
  row: Subscription,
  instant: number,
  loading: Loading = {},
): Promise<OrderRecord> {
  const [record] = await loadOrders(unit, [row], instant, loading)
  if (record === undefined) throw new Error('an order has one record')
  return record
}

/** As `loadOrder`, for orders whose clocks show the same instant. */
export async function loadOrders(
  unit: UnitOfWork,
  rows: readonly Subscription[],
  instant: number,
  { invoiceIds = [], unreadable }: Loading = {},
): Promise<OrderRecord[]> {
  const { em, organizationId } = unit
  const ofThem = { organizationId, subscriptionId: { $in: rows.map(({ id }) => id) } }
  const isNeeded = ({ rebillNumber }: Subscription, { id, type, status, charge, periodNumber }: Invoice) =>
    OPEN.includes(status) ||
    type === 'initial' ||
    charge != null ||
    // One of a period that has not begun is voided where that will not come, paid or not.
    (periodNumber ?? 0) > (rebillNumber ?? LAST_PERIOD) ||
    invoiceIds.includes(id)
  const leastPeriod = Math.min(...rows.map(({ rebillNumber }) => rebillNumber ?? LAST_PERIOD))
  const invoices = await em.find(
    Invoice,
    {
      ...ofThem,
      $or: [
        { status: { $in: [...OPEN] } },
        { type: 'initial' },
        { charge: { $ne: null } },
        { periodNumber: { $gt: leastPeriod } },
        { id: { $in: [...invoiceIds] } },
      ],
    },
    { orderBy: { sequence: 'asc' }, refresh: true },
  )
  const pauses = await em.find(
    SubscriptionPause,
    { ...ofThem, status: { $in: ['pending', 'active'] } },
    { orderBy: { id: 'asc' }, refresh: true },
  )
  const charging = await readChargeTerms(unit, rows, instant)
  const invoicesOf = Map.groupBy(invoices, ({ subscriptionId }) => subscriptionId)
  const pausesOf = Map.groupBy(pauses, ({ subscriptionId }) => subscriptionId)
  const recordOf = (row: Subscription): OrderRecord => {
    const its = {
      invoices: (invoicesOf.get(row.id) ?? []).filter((invoice) => isNeeded(row, invoice)),
      pauses: pausesOf.get(row.id) ?? [],
      charging: charging.get(row.id) ?? UNCHARGED,
    }
    return {
      row,
      invoices: new Map(its.invoices.map((invoice) => [invoice.sequence, invoice])),
      pauses: new Map(its.pauses.map((pause) => [pause.id, pause])),
      order: orderOf(row, its),
      charging: its.charging,
      isNew: false,
      toRefund: new Set(),
      raised: new Set(),
    }
  }
  return rows.flatMap((row) => {
    try {
      return [recordOf(row)]
    } catch (error) {
      if (unreadable === undefined) throw error
      unreadable(row, error)
      return []
    }
  })
}

/** What can still be paid. */
const OPEN: readonly InvoiceStatus[] = ['draft', 'unpaid', 'past-due', 'partially-paid']

/** Higher than any period's number: before its start an order has no invoice of a period to come. */
const LAST_PERIOD = 2_147_483_647

/** A record of an order that is about to be placed. */
export function newRecord(row: Subscription, order: Order): OrderRecord {
  return {
    row,
    invoices: new Map(),
    pauses: new Map(),
    order,
    charging: UNCHARGED,
    isNew: true,
    toRefund: new Set(),
    raised: new Set([row]),
  }
}

/** Terms as the rules read them from an order's row, and how it is charged where that matters. */
export function orderTerms(
  row: Subscription,
  { canCharge, autopayRetries }: Pick<ChargeTerms, 'canCharge' | 'autopayRetries'> = UNCHARGED,
): OrderTerms {
  const agreed = agreedTerms(
    row.items.map(({ priced }) => priced),
    orderChoices(row),
  )
  return {
    currency: row.currency,
    createdTime: row.createdTime.getTime(),
    startTime: row.startTime.getTime(),
    abandonTime: milliseconds(row.abandonTime),
    items: row.items.map(({ id, quantity, priced }) => ({ id, quantity, plan: priced })),
    ...agreed,
    delinquencyPeriod: parseDuration(row.delinquencyPeriod ?? ''),
    shipping: row.shipping?.amount ?? null,
    canCharge,
    autopayRetries,
  }
}

/** What the order sets in its plans' place. */
export function orderChoices(
  row: Pick<Subscription, 'trial' | 'isTrialOnly' | 'recurringInterval' | 'invoiceTimeShift'>,
) {
  const { trial } = row
  return {
    trial: trial == null ? null : { enabled: trial.enabled, endTime: parsed(trial.endTime) },
    isTrialOnly: row.isTrialOnly,
    recurringInterval: row.recurringInterval ?? null,
    invoiceTimeShift: row.invoiceTimeShift ?? null,
  }
}

/**
 * Writes steps, oldest first: columns, invoices, pauses, timeline, and each step's events with the records as they stood
 * then. A row's revision rises by one, however many steps of one commit change what it shows. `transaction` is the one
 * whose answer made the steps.
 */
export function applySteps(
  unit: UnitOfWork,
  record: OrderRecord,
  steps: readonly Step[],
  transaction: Transaction | null = null,
): void {
  for (const step of steps) {
    if (step.order === record.order && step.happenings.length === 0) continue
    const before = record.order
    if (shownOf(before) !== shownOf(step.order)) raise(unit, record, record.row)
    record.order = step.order
    writeOrder(record.row, step.order)
    for (const invoice of step.order.invoices) {
      const was = before.invoices.find(({ sequence }) => sequence === invoice.sequence)
      if (was === invoice) continue
      writeInvoice(unit, record, invoice, was ?? null)
      if (invoice.status !== was?.status && endsUndelivered(step.order, invoice)) {
        record.toRefund.add(invoice.sequence)
      }
    }
    for (const pause of step.order.pauses) {
      if (!before.pauses.includes(pause)) writePause(unit, record, pause)
    }
    writeSummary(record)
    const untold = modified(before, step, transaction)
    for (const happening of [...step.happenings, ...untold]) {
      tell(unit, record, step, happening, transaction)
    }
  }
}

/** Whether an invoice that money came in for ends without what it bills: voided, or abandoned before its period began. */
function endsUndelivered(order: Order, invoice: InvoiceState): boolean {
  if (isZero(invoice.amountPaid)) return false
  return invoice.status === 'voided' || (invoice.status === 'abandoned' && isComing(order, invoice))
}

/** The order as the rules read it; without its invoices and pauses where those do not matter. */
export function orderOf(
  row: Subscription,
  {
    invoices = [],
    pauses = [],
    charging = UNCHARGED,
  }: {
    readonly invoices?: readonly Invoice[]
    readonly pauses?: readonly SubscriptionPause[]
    readonly charging?: ChargeTerms
  } = {},
): Order {
  return {
    terms: orderTerms(row, charging),
    status: row.status,
    activationTime: milliseconds(row.activationTime),
    notBefore: (row.notBefore ?? row.createdTime).getTime(),
    voidTime: milliseconds(row.voidTime),
    churnTime: milliseconds(row.churnTime),
    canceledBy: row.canceledBy ?? null,
    cancelCategory: row.cancelCategory ?? null,
    cancelDescription: row.cancelDescription ?? null,
    inTrial: row.inTrial,
    isTrialConverted: row.isTrialConverted,
    rebillNumber: row.rebillNumber ?? null,
    invoicedThrough: row.invoicedThrough,
    anchor: milliseconds(row.anchorTime),
    anchorNumber: row.anchorNumber,
    periodStart: milliseconds(row.periodStart),
    periodEnd: milliseconds(row.periodEnd),
    pauses: pauses.map(({ id, status, effectiveTime, endTime }) => ({
      id,
      status,
      effectiveTime: effectiveTime.getTime(),
      endTime: milliseconds(endTime),
    })),
    invoices: invoices.map((invoice) => ({
      sequence: invoice.sequence,
      type: invoice.type,
      status: invoice.status,
      lines: invoice.lines,
      amount: invoice.amount,
      periodNumber: invoice.periodNumber ?? null,
      periodStart: milliseconds(invoice.periodStart),
      periodEnd: milliseconds(invoice.periodEnd),
      issuedTime: milliseconds(invoice.issuedTime),
      dueTime: milliseconds(invoice.dueTime),
      delinquencyTime: milliseconds(invoice.delinquencyTime),
      paidTime: milliseconds(invoice.paidTime),
      voidedTime: milliseconds(invoice.voidedTime),
      chargeTime: milliseconds(invoice.chargeTime),
      attempts: invoice.attempts,
      declinedTime: milliseconds(invoice.declinedTime),
      charge: invoice.charge ?? null,
      amountPaid: invoice.amountPaid,
      amountRefunded: invoice.amountRefunded,
      isDisputed: invoice.isDisputed,
    })),
    lateChargeTime: milliseconds(row.lateChargeTime),
    nextInvoice: row.nextInvoice,
  }
}

function writeOrder(row: Subscription, order: Order): void {
  Object.assign(row, {
    status: order.status,
    activationTime: date(order.activationTime),
    notBefore: new Date(order.notBefore),
    voidTime: date(order.voidTime),
    churnTime: date(order.churnTime),
    canceledBy: order.canceledBy,
    cancelCategory: order.cancelCategory,
    cancelDescription: order.cancelDescription,
    inTrial: order.inTrial,
    isTrialConverted: order.isTrialConverted,
    rebillNumber: order.rebillNumber,
    invoicedThrough: order.invoicedThrough,
    anchorTime: date(order.anchor),
    anchorNumber: order.anchorNumber,
    periodStart: date(order.periodStart),
    periodEnd: date(order.periodEnd),
    renewalTime: date(renewalTime(order)),
    nextInvoice: order.nextInvoice,
    lateChargeTime: date(order.lateChargeTime),
  })
}

/** What a caller can see of an order and its invoices, as one text: only a change of that is a revision. */
function shownOf(order: Order): string {
  const { terms, notBefore, invoicedThrough, anchor, anchorNumber, periodStart, lateChargeTime, ...shown } =
    order
  return JSON.stringify({
    ...shown,
    renewalTime: renewalTime(order),
    invoices: order.invoices.map(({ sequence, status }) => [sequence, status]),
  })
}

/** As `shownOf` of one invoice. */
function shownOfInvoice(invoice: InvoiceState): string {
  const { chargeTime, declinedTime, charge, attempts, isDisputed, amountPaid, amountRefunded, ...shown } =
    invoice
  return JSON.stringify({ ...shown, retries: retriesMade(invoice), due: new Money(amountDue(invoice)) })
}

/** Tells of invoices that a step has show something else, where nothing that happened to them does. */
function modified(before: Order, { order, happenings }: Step, transaction: Transaction | null): Happening[] {
  return order.invoices.flatMap((invoice) => {
    const { sequence } = invoice
    const was = before.invoices.find((one) => one.sequence === sequence)
    if (was === undefined || was === invoice || shownOfInvoice(was) === shownOfInvoice(invoice)) return []
    const isTold = happenings.some(
      (one) => one.invoice === sequence && (transaction !== null || one.ofTransaction !== true),
    )
    return isTold ? [] : [{ type: 'invoice-modified', invoice: sequence }]
  })
}

function retriesMade({ attempts }: Pick<InvoiceState, 'attempts'>): number {
  return Math.max(0, attempts - 1)
}

function writeInvoice(
  unit: UnitOfWork,
  record: OrderRecord,
  state: InvoiceState,
  before: InvoiceState | null,
): void {
  const { row } = record
  const values = {
    type: state.type,
    status: state.status,
    lines: [...state.lines],
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
    chargeTime: date(state.chargeTime),
    autopayRetryNumber: retriesMade(state),
    attempts: state.attempts,
    declinedTime: date(state.declinedTime),
    charge: state.charge,
    amountPaid: state.amountPaid,
    amountRefunded: state.amountRefunded,
    isDisputed: state.isDisputed,
  }
  const known = record.invoices.get(state.sequence)
  if (known !== undefined) {
    if (before === null || shownOfInvoice(before) !== shownOfInvoice(state)) raise(unit, record, known)
    // A draft follows its order into another currency; what is issued keeps its own.
    Object.assign(known, values, before?.status === 'draft' ? { currency: row.currency } : {})
    return
  }
  const made = {
    id: newId('in'),
    subscriptionId: row.id,
    customerId: row.customerId,
    websiteId: row.websiteId,
    sequence: state.sequence,
    currency: row.currency,
    ...values,
    poNumber: row.poNumber ?? null,
    notes: row.notes ?? null,
  }
  const invoice = record.isNew ? unit.insert(Invoice, made) : unit.create(Invoice, made)
  record.invoices.set(state.sequence, invoice)
  record.raised.add(invoice)
}

function writePause(unit: UnitOfWork, record: OrderRecord, { id, ...state }: Pause): void {
  const values = {
    status: state.status,
    effectiveTime: new Date(state.effectiveTime),
    endTime: date(state.endTime),
  }
  const known = record.pauses.get(id)
  if (known !== undefined) {
    raise(unit, record, known)
    Object.assign(known, values)
    return
  }
  const pause = unit.create(SubscriptionPause, {
    id,
    subscriptionId: record.row.id,
    ...values,
    description: null,
  })
  record.pauses.set(id, pause)
  record.raised.add(pause)
}

/** Writes the order's notes and purchase order number, which have changed, to invoices that are not issued yet. */
export function annotateDrafts(unit: UnitOfWork, record: OrderRecord, instant: number): void {
  const { poNumber = null, notes = null } = record.row
  for (const invoice of record.invoices.values()) {
    if (invoice.status !== 'draft') continue
    raise(unit, record, invoice)
    Object.assign(invoice, { poNumber, notes })
    unit.emit(invoiceEvent(invoice, 'invoice-modified', new Date(instant), unit.baseUrl))
  }
}

/** What the order shows of its invoices. */
function writeSummary({ row, order, invoices }: OrderRecord): void {
  const initial = order.invoices.find(({ type }) => type === 'initial')
  const recent = order.invoices.find(({ sequence }) => sequence === order.nextInvoice - 1)
  if (initial !== undefined) row.initialInvoiceId = invoices.get(initial.sequence)?.id ?? null
  if (recent === undefined) return
  row.recentInvoiceId = invoices.get(recent.sequence)?.id ?? null
  row.billingStatus = recent.status
}

function tell(
  unit: UnitOfWork,
  record: OrderRecord,
  step: Step,
  happening: Happening,
  transaction: Transaction | null,
): void {
  const { row } = record
  const time = new Date(step.at)
  const { type, pause } = happening
  const invoice = happening.invoice === undefined ? undefined : record.invoices.get(happening.invoice)
  if (invoice === undefined || type === 'renewal-invoice-issued') {
    unit.emit(
      subscriptionEvent(row, type, time, unit.baseUrl, {
        ...(pause === undefined ? {} : { subscriptionPauseId: pause }),
        ...(invoice === undefined ? {} : { invoice }),
      }),
    )
  } else if (happening.ofTransaction) {
    // Nobody was asked where there was nothing to charge: there is no payment to tell of.
    if (transaction === null) return
    unit.emit(invoicePaymentEvent(transaction, invoice, type, time, unit.baseUrl))
  } else unit.emit(invoiceEvent(invoice, type, time, unit.baseUrl))
  unit.note({
    subscriptionId: row.id,
    type,
    occurredTime: time,
    cause: step.cause,
    message: timelineMessage(type, invoice?.id ?? pause ?? null),
  })
}

function raise(unit: UnitOfWork, record: OrderRecord, row: { revision: number; updatedTime: Date }): void {
  if (record.raised.has(row)) return
  record.raised.add(row)
  row.revision += 1
  row.updatedTime = unit.now
}

function milliseconds(value: Date | null | undefined): number | null {
  return value?.getTime() ?? null
}

function parsed(text: string | null): number | null {
  return text === null ? null : Date.parse(text)
}

function date(instant: number | null): Date | null {
  return instant === null ? null : new Date(instant)
}
