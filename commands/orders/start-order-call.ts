/** The first of three steps of an automatic charge (decisions 6.5), committed before the gateway is called. */
import { nextGatewayCall } from '../../billing/charging.ts'
import { nextInquiry } from '../../billing/inquiry-schedule.ts'
import { beginCharge, declineCharge } from '../../billing/order-payments.ts'
import { type Subscription, Transaction } from '../../db/entities/index.ts'
import { newId } from '../../db/new-id.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { expirePaymentInstrument } from '../payments/expire-payment-instrument.ts'
import { chargeOf } from '../payments/transaction-members.ts'
import { advanceForCommand, lockSubscription, scheduleAfter } from './advance-order.ts'
import { applyTransitions } from './apply-transitions.ts'
import { type ChargeRoute, routeFor } from './choose-instrument.ts'
import { advanceInstant, recordProgress } from './fast-forward.ts'
import type { OrderRecord } from './order-record.ts'

export interface OrderCall {
  readonly transactionId: string
  readonly instant: number
}

/**
 * Begins the charge of an order that is due, or returns the open one whose outcome is due to be asked for;
 * null: no call is due. Without an instrument to charge, the charge counts as declined.
 */
export async function startOrderCall(
  unit: UnitOfWork,
  subscriptionId: string,
  now: number,
): Promise<OrderCall | null> {
  const row = await lockSubscription(unit, subscriptionId)
  if (row === null) return null
  await recordProgress(unit, row)
  // A moving clock does not pass its target, however long its execution has slept.
  const target = row.movingTo?.getTime() ?? Number.POSITIVE_INFINITY
  const instant = advanceInstant(row, Math.min(now, target))
  const record = await advanceForCommand(unit, row, instant)
  const call = nextGatewayCall(record.order)
  if (call === null || call.at > instant) return null
  const invoice = record.invoices.get(call.invoice)
  if (invoice === undefined) return null
  if (invoice.charge != null) {
    const transactionId = await openTransaction(unit, requestIdOf(row, invoice.sequence, invoice.attempts))
    return transactionId === null ? null : { transactionId, instant }
  }
  const state = record.order.invoices.find(({ sequence }) => sequence === call.invoice)
  const route = state === undefined ? null : routeFor(record.charging, record.order, state)
  if (route === null) {
    applyTransitions(unit, record, [declineCharge(record.order, instant, call.invoice)])
    scheduleAfter(record, instant)
    return null
  }
  const transactionId = addCharge(unit, record, { sequence: call.invoice, route }, instant)
  scheduleAfter(record, instant)
  if (transactionId === null) return null
  const { isExpired, paymentInstrumentId } = route
  if (isExpired) await expirePaymentInstrument(unit, paymentInstrumentId)
  return { transactionId, instant }
}

/** null: none may be made any more. */
function addCharge(
  unit: UnitOfWork,
  record: OrderRecord,
  { sequence, route }: { readonly sequence: number; readonly route: ChargeRoute },
  instant: number,
): string | null {
  const { row } = record
  applyTransitions(unit, record, [beginCharge(record.order, instant, sequence)])
  const invoice = record.invoices.get(sequence)
  const state = record.order.invoices.find((one) => one.sequence === sequence)
  if (invoice === undefined || state === undefined) throw new Error('an order has lost its invoice')
  if (state.charge === null) return null
  const chargedAt = state.charge.at
  const inquiry = nextInquiry(chargedAt, chargedAt)
  const id = newId('txn')
  unit.create(Transaction, {
    id,
    ...chargeOf(row, route, invoice, state),
    subscriptionId: row.id,
    chargedTime: new Date(chargedAt),
    riskMetadata: row.riskMetadata ?? null,
    requestId: requestIdOf(row, sequence, state.attempts),
    nextInquiryTime: inquiry === null ? null : new Date(inquiry),
  })
  return id
}

/** Derived from the attempt: a standby that has lost the last commits charges nobody twice. */
function requestIdOf({ id }: Pick<Subscription, 'id'>, sequence: number, attempt: number): string {
  return `${id}.${sequence}.${attempt}`
}

async function openTransaction(
  { em, organizationId }: UnitOfWork,
  requestId: string,
): Promise<string | null> {
  return (await em.findOne(Transaction, { organizationId, requestId }))?.id ?? null
}
