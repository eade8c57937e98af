import type { EntityManager } from '@mikro-orm/postgresql'
import { settleBefore, settleOrder } from '../../billing/order-lifecycle.ts'
import { Subscription } from '../entities/index.ts'
import { lockRow } from '../lock-row.ts'
import { applySteps, type Loading, loadOrder, loadOrders, type OrderRecord } from '../order-record.ts'
import { statement } from '../statement.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { giveBack } from './give-back.ts'

/** The order's row, locked until the transaction ends, as the database has it now; null when there is none. */
export async function lockSubscription(unit: UnitOfWork, id: string): Promise<Subscription | null> {
  return await lockRow(unit, Subscription, id)
}

/** Steps a timer takes in one commit: enough for years of months, few enough for a short transaction. */
const STEPS_AT_ONCE = 300

/**
 * Applies what is due on a locked order through `instant` (its own clock), a few hundred steps at most. Early, late,
 * twice or in pieces, the record comes out the same; instants already settled do nothing. What depends on a charge that
 * is due waits for its answer.
 *
 * @returns whether the gateway has to be asked something now.
 */
export async function settleSubscription(
  unit: UnitOfWork,
  row: Subscription,
  instant: number,
): Promise<boolean> {
  const record = await loadOrder(unit, row, instant)
  settleRecord(unit, record, instant)
  await giveBack(unit, [record])
  const { call } = settleOrder(record.order, Number.NEGATIVE_INFINITY)
  return call !== null && call.at <= instant
}

function settleRecord(unit: UnitOfWork, record: OrderRecord, instant: number): void {
  const { row } = record
  if (row.settledThrough != null && instant < row.settledThrough.getTime()) return
  const { steps, next } = settleOrder(record.order, instant, STEPS_AT_ONCE)
  applySteps(unit, record, steps)
  const isCut = next !== null && next.at <= instant
  row.settledThrough = new Date(isCut ? (steps.at(-1)?.at ?? instant) : instant)
  scheduleNext(record)
}

/**
 * What `settleSubscription` would settle, where the clock is at rest and was never moved: of orders of the unit's
 * organization, `most` of those whose deadline has passed, oldest first. Those that someone else is at are left to them.
 *
 * @returns how many there were.
 */
export async function settleDueSubscriptions(unit: UnitOfWork, most: number): Promise<number> {
  const { em, organizationId } = unit
  const locked = await statement<{ id: string }>(
    em,
    'lock-due-orders',
    `select id from subscriptions where organization_id = ? and ${IS_DUE} order by next_deadline limit ?
        for update skip locked`,
    [organizationId, unit.now, most],
  )
  if (locked.length === 0) return 0
  const ids = locked.map(({ id }) => id)
  const rows = await em.find(Subscription, { organizationId, id: { $in: ids } }, { refresh: true })
  const instant = unit.now.getTime()
  const records = await loadOrders(unit, rows, instant)
  for (const record of records) settleRecord(unit, record, instant)
  await giveBack(unit, records)
  return ids.length
}

/** Organizations that have orders whose deadline has passed, those of the oldest first. */
export async function organizationsWithDueSubscriptions(em: EntityManager, now: Date): Promise<string[]> {
  const rows = await statement<{ organization_id: string }>(
    em,
    'find-due-organizations',
    `select organization_id from (
       select organization_id, next_deadline from subscriptions where ${IS_DUE} order by next_deadline limit 1000
     ) due group by organization_id order by min(next_deadline)`,
    [now],
  )
  return rows.map(({ organization_id }) => organization_id)
}

/** A deadline that was settled already waits for the gateway, which only the order's own workflow asks. */
const IS_DUE = `next_deadline <= ? and (settled_through is null or settled_through < next_deadline)
  and clock_offset = 0 and moving_to is null`

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
  const isCall = call !== null && (next === null || call.at < next.at)
  const first = isCall ? call.at : (next?.at ?? null)
  record.row.nextDeadline = first === null ? null : new Date(first)
  record.row.nextTurn = isCall ? 'charge' : (next?.turn ?? null)
}
