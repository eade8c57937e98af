import { raiseRevision } from '../../db/change-row.ts'
import { Transaction } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { MovementOutcome } from '../../gateways/movement.ts'
import { lockSubscription, wakeOrder } from '../orders/advance-order.ts'
import { orderInstant } from '../orders/order-instant.ts'
import { lockInvoices, suspendInvoices } from './apply-payment.ts'
import { accepts, recordResult } from './record-result.ts'

/** Records a looked-up or notified outcome as the transaction's workflow would, and wakes that workflow. */
export async function recordFoundResult(
  unit: UnitOfWork,
  id: string,
  outcome: MovementOutcome,
): Promise<void> {
  const { em, organizationId, now } = unit
  const found = await em.findOne(Transaction, { organizationId, id })
  if (found === null || !accepts(found, outcome.result)) return
  const order = found.subscriptionId == null ? null : await lockSubscription(unit, found.subscriptionId)
  const hasWorkflow = found.result === 'unknown'
  await recordResult(unit, id, outcome, order === null ? now.getTime() : orderInstant(unit, order))
  if (order !== null) wakeOrder(unit, order)
  else if (hasWorkflow) unit.wake('transaction', id, { dueBy: null })
}

/** Has the gateway asked now for an outcome that was unknown. A first call that is under way is left alone. */
export async function inquireNow(unit: UnitOfWork, id: string): Promise<void> {
  const { em, organizationId, now } = unit
  const found = await em.findOne(Transaction, { organizationId, id })
  if (found?.status !== 'pending' || found.result !== 'unknown') return
  const order = found.subscriptionId == null ? null : await lockSubscription(unit, found.subscriptionId)
  const instant = order === null ? now.getTime() : orderInstant(unit, order)
  const invoices =
    order === null ? [] : await lockInvoices(unit, found.invoiceIds, (row) => orderInstant(unit, row))
  const transaction = await lockRow(unit, Transaction, id)
  if (transaction?.status !== 'pending') return
  transaction.nextInquiryTime = new Date(instant)
  raiseRevision(transaction, unit)
  if (order === null) return unit.wake('transaction', id, { dueBy: now })
  await suspendInvoices(unit, transaction, invoices, { timesOut: false, askTime: instant })
  wakeOrder(unit, order)
}
