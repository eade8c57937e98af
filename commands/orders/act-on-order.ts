/**
 * Commands on orders, one transaction each: lock the order, advance it to the command's instant, act, schedule, wake.
 */
import { ConflictError } from '../../billing/errors.ts'
import type { Transition } from '../../billing/order.ts'
import {
  type Cancellation,
  cancelOrder,
  reactivateOrder,
  voidInvoice,
  voidOrder,
} from '../../billing/order-commands.ts'
import { changePauseEnd, pauseOrder, removePause } from '../../billing/pauses.ts'
import {
  type Invoice,
  Subscription,
  SubscriptionCancellation,
  type SubscriptionPause,
  SubscriptionReactivation,
} from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { refundUndelivered } from '../payments/refund-sales.ts'
import { references } from '../references.ts'
import { advanceForCommand, lockSubscription, scheduleAfter, wakeOrder } from './advance-order.ts'
import { applyTransitions } from './apply-transitions.ts'
import { orderInstant } from './order-instant.ts'
import type { OrderRecord } from './order-record.ts'

/**
 * Runs a command on a locked order at the order's own instant.
 *
 * @throws the errors of the command; nothing is written then.
 */
export async function actOnOrder(
  unit: UnitOfWork,
  row: Subscription,
  command: (record: OrderRecord, instant: number) => Transition,
): Promise<OrderRecord> {
  const instant = orderInstant(unit, row)
  const record = await advanceForCommand(unit, row, instant)
  applyTransitions(unit, record, [command(record, instant)])
  await refundUndelivered(unit, [record])
  scheduleAfter(record, instant)
  wakeOrder(unit, row)
  return record
}

/**
 * Voids a pending order with its open invoices.
 *
 * @throws ConflictError
 */
export async function voidSubscription(unit: UnitOfWork, row: Subscription): Promise<void> {
  await actOnOrder(unit, row, ({ order }, instant) => voidOrder(order, instant))
}

/**
 * Voids an unpaid or past-due invoice of a locked order.
 *
 * @throws ConflictError
 */
export async function voidInvoiceOf(
  unit: UnitOfWork,
  row: Subscription,
  invoice: Pick<Invoice, 'sequence'>,
): Promise<void> {
  await actOnOrder(unit, row, ({ order }, instant) => voidInvoice(order, instant, invoice.sequence))
}

/**
 * Cancels an order and records who canceled it and why.
 *
 * @throws InvalidFieldsError when the order does not exist.
 * @throws ConflictError when it is neither active nor paused.
 */
export async function cancelSubscription(
  unit: UnitOfWork,
  id: string,
  subscriptionId: string,
  cancellation: Cancellation,
): Promise<SubscriptionCancellation> {
  const row = await requiredOrder(unit, subscriptionId)
  await actOnOrder(unit, row, ({ order }, instant) => cancelOrder(order, instant, cancellation))
  return unit.create(SubscriptionCancellation, {
    id,
    subscriptionId,
    churnTime: row.churnTime ?? unit.now,
    canceledBy: cancellation.canceledBy,
    reason: cancellation.reason,
    description: cancellation.description,
  })
}

/**
 * Reactivates a canceled or churned order.
 *
 * @throws InvalidFieldsError, ConflictError
 */
export async function reactivateSubscription(
  unit: UnitOfWork,
  id: string,
  subscriptionId: string,
): Promise<SubscriptionReactivation> {
  const row = await requiredOrder(unit, subscriptionId)
  const effectiveTime = new Date(orderInstant(unit, row))
  await actOnOrder(unit, row, ({ order }, instant) => reactivateOrder(order, instant))
  return unit.create(SubscriptionReactivation, {
    id,
    subscriptionId,
    effectiveTime,
  })
}

export interface NewPause {
  readonly subscriptionId: string
  readonly effectiveTime: Date | null
  readonly endTime: Date | null
  readonly description: string | null
}

/**
 * Pauses an order, now or later.
 *
 * @throws InvalidFieldsError, ConflictError
 */
export async function pauseSubscription(
  unit: UnitOfWork,
  id: string,
  given: NewPause,
): Promise<SubscriptionPause> {
  const row = await requiredOrder(unit, given.subscriptionId)
  const record = await actOnOrder(unit, row, ({ order }, instant) =>
    pauseOrder(order, instant, {
      id,
      effectiveTime: given.effectiveTime?.getTime() ?? null,
      endTime: given.endTime?.getTime() ?? null,
    }),
  )
  const pause = record.pauses.get(id)
  if (pause === undefined) throw new Error('a pause that was accepted left no row')
  pause.description = given.description
  return pause
}

/**
 * Moves the end of a pause.
 *
 * @throws InvalidFieldsError, ConflictError
 */
export async function changePause(
  unit: UnitOfWork,
  pause: SubscriptionPause,
  endTime: Date | null,
): Promise<void> {
  const row = await requiredOrder(unit, pause.subscriptionId)
  await actOnOrder(unit, row, ({ order }, instant) =>
    changePauseEnd(order, instant, pause.id, endTime?.getTime() ?? null),
  )
}

/**
 * Resumes the order from an active pause, or revokes a scheduled one.
 *
 * @throws ConflictError when the pause has ended.
 */
export async function endPause(unit: UnitOfWork, pause: SubscriptionPause): Promise<void> {
  const row = await requiredOrder(unit, pause.subscriptionId)
  await actOnOrder(unit, row, ({ order }, instant) => removePause(order, instant, pause.id))
}

/**
 * Returns the locked row of the order that a body names.
 *
 * @throws InvalidFieldsError naming `subscriptionId`.
 */
async function requiredOrder(unit: UnitOfWork, subscriptionId: string): Promise<Subscription> {
  const row = await lockSubscription(unit, subscriptionId)
  if (row !== null) return row
  const found = references(unit)
  found.missing(Subscription, 'subscriptionId')
  found.check()
  throw new ConflictError('The order does not exist.')
}
