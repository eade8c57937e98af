import { LockMode } from '@mikro-orm/core'
import { settleOrder, type Turn } from '../../billing/order-lifecycle.ts'
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
  return { turn: settleThrough(unit, record, instant, STEPS_AT_ONCE) }
}

/** Brings a locked order up to, not including, a command's instant, and gives its record. */
export async function settleForCommand(
  unit: UnitOfWork,
  row: Subscription,
  instant: number,
): Promise<OrderRecord> {
  const record = await loadOrder(unit, row)
  if (row.settledThrough == null || instant - 1 >= row.settledThrough.getTime()) {
    settleThrough(unit, record, instant - 1)
  }
  return record
}

/** Writes down when the order has to be looked at again. */
export function scheduleNext(record: OrderRecord): Turn | null {
  const { next } = settleOrder(record.order, Number.NEGATIVE_INFINITY)
  record.row.nextDeadline = next === null ? null : new Date(next.at)
  return next?.turn ?? null
}

function settleThrough(unit: UnitOfWork, record: OrderRecord, instant: number, atMost?: number): Turn | null {
  const { steps, next } = settleOrder(record.order, instant, atMost)
  applySteps(unit, record, steps)
  const isCut = next !== null && next.at <= instant
  record.row.settledThrough = new Date(isCut ? (steps.at(-1)?.at ?? instant) : instant)
  return scheduleNext(record)
}
