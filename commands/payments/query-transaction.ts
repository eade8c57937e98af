import { Transaction } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { MovementOutcome } from '../../gateways/movement.ts'
import { lockSubscription, wakeOrder } from '../orders/advance-order.ts'
import { orderInstant } from '../orders/order-instant.ts'
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
