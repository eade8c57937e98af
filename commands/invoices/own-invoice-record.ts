/** The one way in which own invoices change once they are issued: by the rules of all invoices, under their own lock. */
import { orNever } from '../../billing/instants.ts'
import type { Invoice as InvoiceState } from '../../billing/invoices.ts'
import { isZero } from '../../billing/money.ts'
import type { Order, Transition } from '../../billing/order.ts'
import { advanceThrough } from '../../billing/order-lifecycle.ts'
import { OWN_SEQUENCE, ownInvoice, ownTerms } from '../../billing/own-invoices.ts'
import { raiseRevisionOnce } from '../../db/change-row.ts'
import type { Invoice, Transaction } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { readChargeTerms, UNCHARGED } from '../orders/choose-instrument.ts'
import { lockCredit, writeCredit } from '../orders/credit.ts'
import { eventTime } from '../orders/event-time.ts'
import type { Loading } from '../orders/load-order.ts'
import type { TaxedOrder } from '../orders/order-taxes.ts'
import { creditOfMemo, invoiceOf } from '../orders/rows-to-order.ts'
import { refundUndelivered } from '../payments/refund-sales.ts'
import type { InvoicesRecord } from './invoices-record.ts'
import {
  emitInvoiceEvent,
  invoiceColumns,
  numberIfIssued,
  showsChange,
  unreportedChanges,
} from './write-invoice.ts'

export interface OwnInvoiceRecord extends InvoicesRecord {
  readonly isOwn: true
  readonly row: Invoice
}

/** Locks the customer's credit memos after the row, as for an order. */
export async function loadOwnInvoice(
  unit: UnitOfWork,
  row: Invoice,
  instant: number,
  { changedRows = new Set() }: Pick<Loading, 'changedRows'> = {},
): Promise<OwnInvoiceRecord> {
  const { id, customerId, currency, createdTime } = row
  const autopay = row.chargeTime != null || row.declinedTime != null || row.charge?.isOwn === true
  const charged = { ...taxedInvoice(row), autopay, paymentInstrumentId: null }
  const charging = (await readChargeTerms(unit, [charged], instant)).get(id) ?? UNCHARGED
  // A plan to charge holds until then without an instrument too.
  const terms = ownTerms(currency, createdTime.getTime(), { ...charging, canCharge: autopay })
  const memos = (await lockCredit(unit, [row], [row])).get(customerId) ?? []
  return {
    isOwn: true,
    row,
    invoices: new Map([[OWN_SEQUENCE, row]]),
    order: ownInvoice(
      invoiceOf(row),
      terms,
      memos.map((memo) => creditOfMemo(memo, null)),
    ),
    charging,
    creditMemos: new Map(memos.map((memo) => [memo.id, memo])),
    toRefund: new Set(),
    changedRows,
  }
}

/** What the taxes of an own invoice depend on. */
export function taxedInvoice({
  lines,
  ...invoice
}: Omit<TaxedOrder, 'items'> & Pick<Invoice, 'lines'>): TaxedOrder {
  const { id, customerId, currency, billingAddress, deliveryAddress } = invoice
  const items = lines.map(({ productId }) => ({ priced: { productId: productId ?? null } }))
  return { id, customerId, currency, billingAddress, deliveryAddress, items }
}

export function applyOwnTransitions(
  unit: UnitOfWork,
  record: OwnInvoiceRecord,
  transitions: readonly Transition[],
  transaction: Transaction | null = null,
): void {
  const { row } = record
  for (const made of transitions) {
    const [was, state] = [stateOf(record.order), stateOf(made.order)]
    record.order = made.order
    if (was === state && made.events.length === 0) continue
    if (showsChange(was, state)) raiseRevisionOnce(row, unit, record)
    Object.assign(row, invoiceColumns(state, row.lines))
    numberIfIssued(unit, row)
    const isVoided = state.status === 'voided' && was.status !== 'voided'
    if (isVoided && !isZero(state.amountPaid)) record.toRefund.add(OWN_SEQUENCE)
    const [time, { cause }] = [eventTime(row, made.at), made]
    for (const event of [...made.events, ...unreportedChanges([was], made, transaction)]) {
      emitInvoiceEvent(unit, row, event, { time, cause, before: was.status, transaction })
    }
    writeCredit(unit, record, { time, cause }, state, was)
  }
}

export function advanceOwnInvoice(unit: UnitOfWork, record: OwnInvoiceRecord, through: number): void {
  applyOwnTransitions(unit, record, advanceThrough(record.order, through).transitions)
}

/** Stores the next deadline, and wakes the execution that waits for it if that is another one. */
export function scheduleOwnInvoice(unit: UnitOfWork, { row, order }: OwnInvoiceRecord): void {
  const { next, gatewayCall } = advanceThrough(order, Number.NEGATIVE_INFINITY)
  const times = [next?.at, gatewayCall?.at].flatMap((at) => at ?? [])
  const at = times.length === 0 ? null : orNever(Math.min(...times))
  const before = row.nextDeadline ?? null
  const dueBy = at === null ? null : new Date(at)
  if (before?.getTime() === dueBy?.getTime()) return
  row.nextDeadline = dueBy
  const { id, status, customerId } = row
  if (before !== null || dueBy === null) unit.wake('invoice', id, { dueBy })
  else unit.startWorkflow('invoice', id, { dueBy, attributes: { status, customerId } })
}

/** @throws the errors of the command; nothing is written then. */
export async function actOnOwnInvoice(
  unit: UnitOfWork,
  row: Invoice,
  command: (record: OwnInvoiceRecord, instant: number) => Transition,
): Promise<void> {
  const instant = unit.now.getTime()
  const record = await loadOwnInvoice(unit, row, instant)
  advanceOwnInvoice(unit, record, instant - 1)
  applyOwnTransitions(unit, record, [command(record, instant)])
  await refundUndelivered(unit, [record])
  scheduleOwnInvoice(unit, record)
  await unit.numberIssued()
}

function stateOf({ invoices }: Order): InvoiceState {
  const [state] = invoices
  if (state === undefined) throw new Error('an own invoice has lost its state')
  return state
}
