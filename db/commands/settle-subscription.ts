import { settleBefore, settleOrder, type Turn } from '../../billing/order-lifecycle.ts'
import { Subscription } from '../entities/index.ts'
import { lockRow } from '../lock-row.ts'
import { applySteps, type Loading, loadOrder, type OrderRecord } from '../order-record.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { giveBack } from './give-back.ts'

/** The order's row, locked until the transaction ends, as the database has it now; null when there is none. */
export async function lockSubscription(unit: UnitOfWork, id: string): Promise<Subscription | null> {
  return await lockRow(unit, Subscription, id)
}

/** Steps a timer takes in one commit: enough for years of months, few enough for a short transaction. */
const STEPS_AT_ONCE = 300

/** What an order waits for. */
export interface Outlook {
  /** What becomes due next; null when nothing ever will. */
  readonly turn: Turn | 'charge' | null
  /** Whether the gateway has to be asked something now. */
  readonly calls: boolean
}

/**
 * Applies what is due on a locked order through `instant` (its own clock), a few hundred steps at most. Early, late,
 * twice or in pieces, the record comes out the same; instants already settled do nothing. What depends on a charge that
 * is due waits for its answer.
 */
export async function settleSubscription(
  unit: UnitOfWork,
  row: Subscription,
  instant: number,
): Promise<Outlook> {
  const record = await loadOrder(unit, row, instant)
  if (row.settledThrough != null && instant < row.settledThrough.getTime()) {
    return outlook(record, instant)
  }
  const { steps, next } = settleOrder(record.order, instant, STEPS_AT_ONCE)
  applySteps(unit, record, steps)
  await giveBack(unit, [record])
  const isCut = next !== null && next.at <= instant
  row.settledThrough = new Date(isCut ? (steps.at(-1)?.at ?? instant) : instant)
  scheduleNext(record)
  return outlook(record, instant)
}

/** What lies ahead of a record that is settled through `instant`. */
export function outlook({ order }: OrderRecord, instant: number): Outlook {
  const { next, call } = settleOrder(order, Number.NEGATIVE_INFINITY)
  return {
    turn: call !== null && (next === null || call.at < next.at) ? 'charge' : (next?.turn ?? null),
    calls: call !== null && call.at <= instant,
  }
}

/**
 * Brings a locked order up to, not including, a command's instant, and gives its record. Where nothing was due, nothing
 * is written: a command that changes nothing leaves the row as it was.
 */
export async function settleForCommand(
  unit: UnitOfWork,
  row: Subscription,
  instant: number,
  loading: Loading = {},
): Promise<OrderRecord> {
  const record = await settleBeforeRefunds(unit, row, instant, loading)
  await giveBack(unit, [record])
  return record
}

/** As `settleForCommand`, for one order of several: its refunds are left to whoever settles the last of them. */
export async function settleBeforeRefunds(
  unit: UnitOfWork,
  row: Subscription,
  instant: number,
  loading: Loading = {},
): Promise<OrderRecord> {
  const record = await loadOrder(unit, row, instant, loading)
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

/** Writes down when the order has to be looked at again: something is due, or the gateway has to be asked. */
export function scheduleNext(record: OrderRecord): void {
  const { next, call } = settleOrder(record.order, Number.NEGATIVE_INFINITY)
  const first = Math.min(next?.at ?? Number.POSITIVE_INFINITY, call?.at ?? Number.POSITIVE_INFINITY)
  record.row.nextDeadline = Number.isFinite(first) ? new Date(first) : null
}
