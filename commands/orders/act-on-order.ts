import { type Duration, reach } from '../../billing/durations.ts'
import { ConflictError, refuse } from '../../billing/errors.ts'
import type { Transition } from '../../billing/order.ts'
import { reactivateOrder, voidOrder } from '../../billing/order-commands.ts'
import { changePauseTimes, type PauseTimes, pauseOrder, removePause } from '../../billing/pauses.ts'
import { Subscription, type SubscriptionPause, SubscriptionReactivation } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { ownInstrument } from '../payments/own-instrument.ts'
import { refundUndelivered } from '../payments/refund-sales.ts'
import { references } from '../references.ts'
import { advanceForCommand, lockSubscription, scheduleAfter, wakeOrder } from './advance-order.ts'
import { applyTransitions } from './apply-transitions.ts'
import { orderInstant } from './order-instant.ts'
import type { OrderRecord } from './order-record.ts'

/** Advances a locked order to its own instant, runs the command, schedules and wakes. */
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
  await unit.numberIssued()
  return record
}

/** Voids a pending order with its open invoices. Throws ConflictError. */
export async function voidSubscription(unit: UnitOfWork, row: Subscription): Promise<void> {
  await actOnOrder(unit, row, ({ order }, instant) => voidOrder(order, instant))
}

export interface NewReactivation {
  readonly subscriptionId: string
  readonly description: string | null
  /** null, or not ahead: now. */
  readonly effectiveTime: number | null
  /** The next boundary; null, or not ahead: as the periods of the order have it. */
  readonly renewalTime: number | null
  /** null: the instrument that the order has. */
  readonly paymentInstrumentId: string | null
}

/** Before the churn time this revokes the cancellation. Throws InvalidFieldsError, ConflictError. */
export async function reactivateSubscription(
  unit: UnitOfWork,
  id: string,
  given: NewReactivation,
): Promise<SubscriptionReactivation> {
  const row = await requiredOrder(unit, given.subscriptionId)
  const effectiveTime = orderInstant(unit, row)
  const { customerId, cancellationId = null } = row
  const found = references(unit)
  if ((given.effectiveTime ?? effectiveTime) > effectiveTime) {
    found.fail('effectiveTime', 'out-of-range', 'must not be in the future')
  }
  const { paymentInstrumentId, description } = given
  await ownInstrument(found, 'paymentInstrumentId', paymentInstrumentId, customerId)
  found.check()
  const isNew = paymentInstrumentId !== null && paymentInstrumentId !== row.paymentInstrumentId
  if (isNew) row.paymentInstrumentId = paymentInstrumentId
  await actOnOrder(unit, row, ({ order }, instant) =>
    reactivateOrder(order, instant, given.renewalTime, isNew),
  )
  return unit.create(SubscriptionReactivation, {
    id,
    subscriptionId: row.id,
    cancellationId,
    effectiveTime: new Date(effectiveTime),
    renewalTime: row.renewalTime ?? null,
    paymentInstrumentId,
    description,
  })
}

export interface PauseChange {
  readonly subscriptionId: string
  readonly pausedBy: SubscriptionPause['pausedBy']
  /** null: now, unless the pause has begun. */
  readonly effectiveTime: Date | null
  readonly endTime: Date | null
  /** From its end to the next boundary, as long as from its beginning, or in milliseconds; null: what remains of the period. */
  readonly timeRemaining: Duration | number | null
  readonly description: string | null
}

/** @throws InvalidFieldsError, ConflictError */
export async function pauseSubscription(
  unit: UnitOfWork,
  id: string,
  given: PauseChange,
): Promise<SubscriptionPause> {
  const row = await requiredOrder(unit, given.subscriptionId)
  const record = await actOnOrder(unit, row, ({ order }, instant) =>
    pauseOrder(order, instant, {
      id,
      effectiveTime: given.effectiveTime?.getTime() ?? null,
      endTime: given.endTime?.getTime() ?? null,
      timeRemaining: timeFrom(given.effectiveTime?.getTime() ?? instant, given),
    }),
  )
  const pause = record.pauses.get(id)
  if (pause === undefined) throw new Error('a pause that was accepted left no row')
  pause.description = given.description
  pause.pausedBy = given.pausedBy
  return pause
}

/** Changes a pause's times until it has ended, the rest at any time. Throws InvalidFieldsError, ConflictError. */
export async function updatePause(
  unit: UnitOfWork,
  pause: SubscriptionPause,
  given: PauseChange,
): Promise<void> {
  if (given.subscriptionId !== pause.subscriptionId) {
    throw new ConflictError('The order of a pause cannot be changed.')
  }
  const row = await requiredOrder(unit, pause.subscriptionId)
  const timesAt = (instant: number): PauseTimes => {
    const begun = pause.status === 'pending' ? instant : pause.effectiveTime.getTime()
    const effectiveTime = given.effectiveTime?.getTime() ?? begun
    const timeRemaining = timeFrom(effectiveTime, given)
    return { effectiveTime, endTime: given.endTime?.getTime() ?? null, timeRemaining }
  }
  const { timeRemaining } = timesAt(orderInstant(unit, row))
  if (!hasTimes(pause, { ...given, timeRemaining })) {
    await actOnOrder(unit, row, ({ order }, instant) => {
      const times = timesAt(instant)
      const kept = pause.status === 'ongoing' ? (pause.timeRemaining ?? null) : null
      return changePauseTimes(order, instant, pause.id, {
        ...times,
        timeRemaining: times.timeRemaining ?? kept,
      })
    })
  }
  pause.description = given.description
  pause.pausedBy = given.pausedBy
}

/** Returns the remaining time in milliseconds: months of a duration are those from the beginning of the pause. */
function timeFrom(begin: number, { timeRemaining }: PauseChange): number | null {
  if (timeRemaining === null || typeof timeRemaining === 'number') return timeRemaining
  const end = reach(begin, timeRemaining)
  return end === null ? refuse('timeRemaining', 'wrong-format', POSITIVE_DURATION) : end - begin
}

export const POSITIVE_DURATION = 'must be a positive ISO 8601 duration, such as P3D'

/** What has ended stays so under a null, which is what it had before it began or ended. */
function hasTimes(
  pause: SubscriptionPause,
  {
    effectiveTime,
    endTime,
    timeRemaining,
  }: Pick<PauseChange, 'effectiveTime' | 'endTime'> & Pick<PauseTimes, 'timeRemaining'>,
): boolean {
  const isOver = pause.status === 'finished' || pause.status === 'revoked'
  const isKept = <T>(given: T | null, kept: T | null) => given === kept || (isOver && given === null)
  return (
    isKept(effectiveTime?.getTime() ?? null, pause.effectiveTime.getTime()) &&
    isKept(endTime?.getTime() ?? null, pause.endTime?.getTime() ?? null) &&
    isKept(timeRemaining, pause.timeRemaining ?? null)
  )
}

/** Resumes the order, or revokes a scheduled pause. Throws ConflictError when the pause has ended. */
export async function endOrRevokePause(unit: UnitOfWork, pause: SubscriptionPause): Promise<void> {
  const row = await requiredOrder(unit, pause.subscriptionId)
  await actOnOrder(unit, row, ({ order }, instant) => removePause(order, instant, pause.id))
}

/** Locks the order that a body names. Throws InvalidFieldsError naming `subscriptionId`. */
export async function requiredOrder(unit: UnitOfWork, subscriptionId: string): Promise<Subscription> {
  const row = await lockSubscription(unit, subscriptionId)
  if (row !== null) return row
  return references(unit).refuseMissing(Subscription, 'subscriptionId')
}
