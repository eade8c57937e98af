import { ConflictError, InvalidFieldsError } from '../../billing/errors.ts'
import { hasStalled, moveProblem, QUARANTINED_DETAIL, STALLED_DETAIL } from '../../billing/fast-forward.ts'
import { offsetAt } from '../../billing/order-clock.ts'
import { raiseRevision } from '../../db/change-row.ts'
import { FastForward, type Subscription } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { advanceForCommand, lockSubscription, wakeOrder } from './advance-order.ts'
import { orderClock, orderInstant } from './order-instant.ts'

/**
 * Begins to move a locked order's clock; null: nothing is ever due, so it has moved already. Throws
 * InvalidFieldsError for a past `to` or one over five years ahead, ConflictError while another fast-forward
 * makes progress.
 */
export async function beginFastForward(
  unit: UnitOfWork,
  row: Subscription,
  id: string,
  to: Date,
): Promise<FastForward | null> {
  const { now } = unit
  const problem = moveProblem(orderClock(row), to.getTime(), now.getTime())
  if (problem !== null) throw new InvalidFieldsError([{ field: 'to', ...problem }])
  await endStalled(unit, row)
  await advanceForCommand(unit, row, orderInstant(unit, row))
  if (row.nextDeadline == null) {
    completeMove(unit, row, to, row.revision)
    return null
  }
  const move = unit.create(FastForward, {
    id,
    subscriptionId: row.id,
    toTime: to,
    status: 'running',
    detail: null,
    progressTime: now,
  })
  row.movingTo = to
  wakeOrder(unit, row)
  return move
}

/** Ends a fast-forward at its target, or when nothing more is due. `revision` is the row's before the advance. */
export async function trackFastForward(
  unit: UnitOfWork,
  row: Subscription,
  instant: number,
  revision: number,
): Promise<void> {
  const { movingTo } = row
  if (movingTo == null) return
  const next = row.nextDeadline?.getTime() ?? null
  const isComplete = next === null || (instant >= movingTo.getTime() && next > movingTo.getTime())
  if (isComplete) completeMove(unit, row, movingTo, revision)
  const move = await runningMove(unit, row)
  if (move === null) return
  move.progressTime = unit.now
  if (isComplete) end(unit, move, 'completed', null)
}

/**
 * Returns the instant through which an order advances. During a fast-forward that is the next deadline,
 * however far the execution's clock has come, so that each charge is made at its own instant.
 */
export function advanceInstant(
  { movingTo, nextDeadline, advancedTo }: Pick<Subscription, 'movingTo' | 'nextDeadline' | 'advancedTo'>,
  instant: number,
): number {
  if (movingTo == null || nextDeadline == null) return instant
  return Math.min(instant, Math.max(nextDeadline.getTime(), advancedTo?.getTime() ?? 0))
}

/** So that a slow gateway call does not count as a stall. */
export async function recordProgress(unit: UnitOfWork, row: Subscription): Promise<void> {
  if (row.movingTo == null) return
  const move = await runningMove(unit, row)
  if (move !== null) move.progressTime = unit.now
}

export async function failIfStalled(unit: UnitOfWork, subscriptionId: string): Promise<boolean> {
  const row = await lockSubscription(unit, subscriptionId)
  if (row?.movingTo == null) return false
  const move = await runningMove(unit, row)
  if (move === null || !hasStalled(move, unit.now)) return false
  await failFastForward(unit, row, STALLED_DETAIL)
  return true
}

/** For an order that is quarantined on its way. */
export async function failIfMoving(unit: UnitOfWork, subscriptionId: string): Promise<void> {
  const row = await lockSubscription(unit, subscriptionId)
  if (row?.movingTo != null) await failFastForward(unit, row, QUARANTINED_DETAIL)
}

/** The clock stays at the instant reached, and the order's workflow continues from there. */
export async function failFastForward(unit: UnitOfWork, row: Subscription, detail: string): Promise<void> {
  const move = await runningMove(unit, row)
  if (move !== null) end(unit, move, 'failed', detail)
  const reached = orderInstant(unit, row)
  row.movingTo = null
  moveTo(unit, row, reached, row.revision)
  wakeOrder(unit, row)
}

async function endStalled(unit: UnitOfWork, row: Subscription): Promise<void> {
  if (row.movingTo == null) return
  const move = await runningMove(unit, row)
  if (move !== null && !hasStalled(move, unit.now)) {
    throw new ConflictError(`The order is already being fast-forwarded by ${move.id}.`)
  }
  await failFastForward(unit, row, STALLED_DETAIL)
}

function completeMove(unit: UnitOfWork, row: Subscription, to: Date, revision: number): void {
  row.movingTo = null
  row.advancedTo = new Date(Math.max(to.getTime(), row.advancedTo?.getTime() ?? 0))
  moveTo(unit, row, to.getTime(), revision)
}

function moveTo(unit: UnitOfWork, row: Subscription, instant: number, revision: number): void {
  row.clockOffset = offsetAt(instant, unit.now.getTime(), orderClock(row))
  // A transition in this commit may have incremented the revision already.
  if (row.revision === revision) raiseRevision(row, unit)
}

async function runningMove(
  { em, organizationId }: UnitOfWork,
  row: Subscription,
): Promise<FastForward | null> {
  return await em.findOne(FastForward, { organizationId, subscriptionId: row.id, status: 'running' })
}

function end(
  unit: UnitOfWork,
  move: FastForward,
  status: 'completed' | 'failed',
  detail: string | null,
): void {
  Object.assign(move, { status, detail })
  raiseRevision(move, unit)
}
