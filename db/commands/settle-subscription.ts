import { LockMode } from '@mikro-orm/core'
import { settleBefore, settleOrder, type Turn } from '../../billing/order-lifecycle.ts'
import { Subscription } from '../entities/index.ts'
import { applySteps, loadOrder, type OrderRecord } from '../order-record.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

/** The order's row, locked until the transaction ends, as the database has it now; null when there is none. */
export async function lockSubscription(
  { em, organizationId }: UnitOfWork,
  id: string,
): Promise<Subscription | null> {
  return await em.findOne(
    Subscription,
    { organizationId, id },
    // Without the refresh the identity map would hand back a copy read before the lock was ours.
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  )
}

/** Steps a timer takes in one commit: enough for years of months, few enough for a short transaction. */
const STEPS_AT_ONCE = 300

/**
 * Applies what is due on a locked order through `instant` (its own clock), a few hundred steps at most. Early, late,
 * twice or in pieces, the record comes out the same; instants already settled do nothing.
 *
 * @returns what becomes due next; null when nothing ever will.
 */
export async function settleSubscription(
  unit: UnitOfWork,
  row: Subscription,
  instant: number,
): Promise<{ readonly turn: Turn | null }> {
  if (row.settledThrough != null && instant < row.settledThrough.getTime()) return { turn: null }
  const record = await loadOrder(unit, row)
  const { steps, next } = settleOrder(record.order, instant, STEPS_AT_ONCE)
  applySteps(unit, record, steps)
  const isCut = next !== null && next.at <= instant
  row.settledThrough = new Date(isCut ? (steps.at(-1)?.at ?? instant) : instant)
  return { turn: scheduleNext(record) }
}

/**
 * Brings a locked order up to, not including, a command's instant, and gives its record. Where nothing was due, nothing
 * is written: a command that changes nothing leaves the row as it was.
 */
export async function settleForCommand(
  unit: UnitOfWork,
  row: Subscription,
  instant: number,
): Promise<OrderRecord> {
  const record = await loadOrder(unit, row)
  if (row.settledThrough == null || instant - 1 >= row.settledThrough.getTime()) {
    const { steps } = settleBefore(record.order, instant)
    applySteps(unit, record, steps)
    if (steps.length > 0) scheduleAfter(record, instant)
  }
  return record
}

/** Ends a command at `instant`: no timer settles before it any more, and the order is looked at again when due. */
export function scheduleAfter(record: OrderRecord, instant: number): void {
  const settledThrough = record.row.settledThrough?.getTime() ?? instant - 1
  record.row.settledThrough = new Date(Math.max(settledThrough, instant - 1))
  scheduleNext(record)
}

/** Writes down when the order has to be looked at again. */
export function scheduleNext(record: OrderRecord): Turn | null {
  const { next } = settleOrder(record.order, Number.NEGATIVE_INFINITY)
  record.row.nextDeadline = next === null ? null : new Date(next.at)
  return next?.turn ?? null
}
