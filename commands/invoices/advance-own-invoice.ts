/** What becomes due on an own invoice: it passes its due time, or is charged (ADR 78). */
import { nextGatewayCall } from '../../billing/charging.ts'
import { beginCharge, declineCharge, leaveChargeUnknown } from '../../billing/order-payments.ts'
import { OWN_SEQUENCE } from '../../billing/own-invoices.ts'
import { type Invoice, Transaction } from '../../db/entities/index.ts'
import { newId } from '../../db/new-id.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { routeFor } from '../orders/choose-instrument.ts'
import { expirePaymentInstrument } from '../payments/expire-payment-instrument.ts'
import { chargeOf } from '../payments/transaction-members.ts'
import {
  advanceOwnInvoice,
  applyOwnTransitions,
  loadOwnInvoice,
  type OwnInvoiceRecord,
  scheduleOwnInvoice,
} from './own-invoice-record.ts'

/**
 * Applies what is due on a locked own invoice through an instant. A charge that is due becomes a pending sale, whose own
 * workflow calls the gateway.
 *
 * @returns its next deadline in milliseconds; null: none.
 */
export async function advanceDueInvoice(
  unit: UnitOfWork,
  row: Invoice,
  instant: number,
): Promise<number | null> {
  const record = await loadOwnInvoice(unit, row, instant)
  advanceOwnInvoice(unit, record, instant)
  const call = nextGatewayCall(record.order)
  if (call !== null && call.at <= instant) await startCharge(unit, record, instant)
  scheduleOwnInvoice(unit, record)
  return row.nextDeadline?.getTime() ?? null
}

async function startCharge(unit: UnitOfWork, record: OwnInvoiceRecord, instant: number): Promise<void> {
  const { row, order } = record
  const [invoice] = order.invoices
  const route = invoice === undefined ? null : routeFor(record.charging, order, invoice)
  if (route === null) {
    applyOwnTransitions(unit, record, [declineCharge(record.order, instant, OWN_SEQUENCE)])
    return
  }
  applyOwnTransitions(unit, record, [beginCharge(order, instant, OWN_SEQUENCE)])
  const [state] = record.order.invoices
  if (state?.charge == null) return
  // The workflow of the sale asks for its outcome.
  applyOwnTransitions(unit, record, [leaveChargeUnknown(record.order, instant, OWN_SEQUENCE, null)])
  const id = newId('txn')
  unit.create(Transaction, {
    id,
    ...chargeOf(row, route, row, state),
    isMerchantInitiated: true,
    riskMetadata: null,
    requestId: `invoice/${row.id}/${state.attempts}`,
    nextInquiryTime: unit.now,
  })
  unit.startWorkflow('transaction', id, {
    dueBy: unit.now,
    gatewayCall: true,
    attributes: { status: 'unknown', customerId: row.customerId },
  })
  if (route.isExpired) await expirePaymentInstrument(unit, route.paymentInstrumentId)
}
