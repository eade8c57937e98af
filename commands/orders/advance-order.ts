/** The one way in which orders advance: early, late, repeated and partial calls give the same record. */
import type { EntityManager } from '@mikro-orm/postgresql'
import { nextCharge } from '../../billing/charging.ts'
import { orNever } from '../../billing/instants.ts'
import { type Advance, advanceThrough } from '../../billing/order-lifecycle.ts'
import { Subscription } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import type { Deadline } from '../../db/outbox.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { refundUndelivered } from '../payments/refund-sales.ts'
import { applyTransitions } from './apply-transitions.ts'
import { renewCredit } from './credit.ts'
import { type Loading, loadOrder, loadOrders } from './load-order.ts'
import type { OrderRecord } from './order-record.ts'

export async function lockSubscription(unit: UnitOfWork, id: string): Promise<Subscription | null> {
  return await lockRow(unit, Subscription, id)
}

/** In one commit: enough for years of months, few enough for a short transaction. */
const TRANSITIONS_AT_ONCE = 300

/**
 * Advances a locked order through `instant` on its own clock. What depends on a due charge waits for its
 * result. Returns true if the gateway has to be called now.
 */
export async function advanceOrder(unit: UnitOfWork, row: Subscription, instant: number): Promise<boolean> {
  const record = await loadOrder(unit, row, instant)
  apply(unit, record, advanceOf(record, instant), instant)
  await refundUndelivered(unit, [record])
  return isCallDue(record, instant)
}

export interface AdvancedOrder {
  readonly row: Subscription
  readonly gatewayCallDue: boolean
}

/** An order that the rules could not advance; it is unchanged. */
export interface FailedOrder {
  readonly id: string
  readonly error: unknown
}

export interface DueOrders {
  /** Advanced whether due or not; orders that another transaction locks are skipped. */
  readonly required: readonly string[]
  /** What is due is decided at this instant, or at the database's time if that is earlier. */
  readonly instant: Date
  readonly others: number
}

/**
 * Advances the required orders and other due ones, oldest deadline first; locked ones are skipped. An order
 * that the rules cannot advance stays unchanged and is returned as failed; any other error fails the batch.
 */
export async function advanceDueOrders(
  unit: UnitOfWork,
  { required, instant: until, others }: DueOrders,
): Promise<{ readonly advanced: readonly AdvancedOrder[]; readonly failed: readonly FailedOrder[] }> {
  const { em, organizationId } = unit
  const locked = await statement<{ id: string; instant: Date | string }>(
    em,
    'lock-due-orders',
    `with required as (
       select id from subscriptions
        where organization_id = ? and id in (select jsonb_array_elements_text(?::jsonb)) and ${CLOCK_RESTS}
          for update skip locked
     ), due as (
       select id from subscriptions
        where ${IS_DUE}
          and id not in (select jsonb_array_elements_text(?::jsonb))
        order by next_deadline limit ?
          for update skip locked
     )
     select id, least(?::timestamptz, now())::timestamptz(3) as instant
       from (select id from required union select id from due) locked`,
    [
      organizationId,
      JSON.stringify(required),
      organizationId,
      until,
      JSON.stringify(required),
      others,
      until,
    ],
  )
  const [first] = locked
  if (first === undefined) return { advanced: [], failed: [] }
  const ids = locked.map(({ id }) => id)
  const rows = await em.find(Subscription, { organizationId, id: { $in: ids } }, { refresh: true })
  const instant = new Date(first.instant).getTime()
  const failed: FailedOrder[] = []
  const starting: Subscription[] = []
  const fail = ({ id }: Subscription, error: unknown): void => void failed.push({ id, error })
  const records = await loadOrders(unit, rows, instant, { unreadable: fail })
  // One after another: orders of one customer share its credit.
  const advancedRecords = records.filter((record) => {
    renewCredit(record)
    let advance: Advance | null
    try {
      advance = advanceOf(record, instant)
    } catch (error) {
      fail(record.row, error)
      return false
    }
    if (record.row.status === 'pending') starting.push(record.row)
    apply(unit, record, advance, instant)
    return true
  })
  await postponeStarts(unit, starting)
  await refundUndelivered(unit, advancedRecords)
  const advanced = advancedRecords.map((record) => ({
    row: record.row,
    gatewayCallDue: isCallDue(record, instant),
  }))
  return { advanced, failed }
}

/** Executions that have not started yet will sleep until their orders' current deadlines. */
async function postponeStarts(unit: UnitOfWork, rows: readonly Subscription[]): Promise<void> {
  const starts = rows.flatMap((row) => {
    const { dueBy, gatewayCall = false } = orderDeadline(row, unit.now)
    if (dueBy === null) return []
    const attributes = { status: row.status, customerId: row.customerId }
    return [{ record_id: row.id, due_by: dueBy, gateway_call: gatewayCall, attributes }]
  })
  if (starts.length === 0) return
  await statement(
    unit.em,
    'postpone-starts',
    `update wake_ups set due_by = given.due_by, gateway_call = given.gateway_call, attributes = given.attributes,
            not_before = null
       from jsonb_to_recordset(?::jsonb) as given (record_id text, due_by timestamptz, gateway_call boolean, attributes jsonb),
            -- One by one: of how many there are the planner has no idea, and it would read the whole table.
            lateral (select ctid as place from wake_ups
                      where organization_id = ? and record_id = given.record_id and workflow = 'subscription' and starts
                      limit 1) start
      where wake_ups.ctid = start.place and lease_owner is null`,
    [JSON.stringify(starts), unit.organizationId],
  )
}

const CLOCK_RESTS = 'clock_offset = 0 and moving_to is null'

/** Orders that a batch may add to the required ones. A due charge is left to the order's own workflow. */
export const IS_FREE = `${CLOCK_RESTS} and next_due_kind is distinct from 'charge' and quarantined_until is null`

/** Due at an instant, but never ahead of the database's clock; binds the organization and the instant. */
const IS_DUE = `organization_id = ? and next_deadline <= least(?::timestamptz, now()) and ${IS_FREE}`

export async function findDueOrders(
  em: EntityManager,
  {
    organizationId,
    instant,
    limit,
  }: { readonly organizationId: string; readonly instant: Date; readonly limit: number },
): Promise<string[]> {
  const rows = await statement<{ id: string }>(
    em,
    'find-due-orders',
    `select id from subscriptions where ${IS_DUE} order by next_deadline limit ?`,
    [organizationId, instant, limit],
  )
  return rows.map(({ id }) => id)
}

/**
 * Organizations with orders that match `IS_FREE` and have been due for longer than the bound milliseconds;
 * one index step finds each.
 */
export const LATE_ORGANIZATIONS = `with recursive organization as (
    (select organization_id from subscriptions where next_deadline is not null order by organization_id limit 1)
    union all
    select following.organization_id from organization, lateral (
      select organization_id from subscriptions
       where next_deadline is not null and organization_id > organization.organization_id
       order by organization_id limit 1) following
  )
  select organization_id as "organizationId" from organization
   where exists (select from subscriptions where subscriptions.organization_id = organization.organization_id
                    and next_deadline < now() - ? * interval '1 millisecond' and ${IS_FREE})`

/** Returns null when the order is already past the instant. */
function advanceOf({ row, order }: OrderRecord, instant: number): Advance | null {
  if (row.advancedTo != null && instant < row.advancedTo.getTime()) return null
  return advanceThrough(order, instant, TRANSITIONS_AT_ONCE)
}

function apply(unit: UnitOfWork, record: OrderRecord, advance: Advance | null, instant: number): void {
  const { row } = record
  if (advance !== null) applyTransitions(unit, record, advance.transitions)
  if (!isCallDue(record, instant)) {
    // The quarantine for a failed gateway call ends when that call is made.
    row.quarantinedUntil = null
    row.quarantineReason = null
    row.quarantineCount = 0
  }
  if (advance === null) return
  const { transitions, next } = advance
  const isCut = next !== null && next.at <= instant
  row.advancedTo = new Date(isCut ? (transitions.at(-1)?.at ?? instant) : instant)
  scheduleNext(record)
}

function isCallDue({ order }: OrderRecord, instant: number): boolean {
  const { gatewayCall: call } = advanceThrough(order, Number.NEGATIVE_INFINITY)
  return call !== null && call.at <= instant
}

/** Advances a locked order up to, not including, a command's instant. Writes nothing if nothing was due. */
export async function advanceForCommand(
  unit: UnitOfWork,
  row: Subscription,
  instant: number,
  loading: Loading = {},
): Promise<OrderRecord> {
  const record = await advanceBeforeRefunds(unit, row, instant, loading)
  await refundUndelivered(unit, [record])
  return record
}

/** As `advanceForCommand`, for one of several orders: the caller begins the refunds after the last one. */
export async function advanceBeforeRefunds(
  unit: UnitOfWork,
  row: Subscription,
  instant: number,
  loading: Loading = {},
): Promise<OrderRecord> {
  const record = await loadOrder(unit, row, instant, loading)
  if (row.advancedTo == null || instant - 1 >= row.advancedTo.getTime()) {
    const { transitions } = advanceThrough(record.order, instant - 1)
    applyTransitions(unit, record, transitions)
    renewCredit(record)
    if (transitions.length > 0) scheduleAfter(record, instant)
  }
  return record
}

/** Ends a command at `instant`: timers no longer advance the order before it. */
export function scheduleAfter(record: OrderRecord, instant: number): void {
  const advancedTo = record.row.advancedTo?.getTime() ?? instant - 1
  record.row.advancedTo = new Date(Math.max(advancedTo, instant - 1))
  scheduleNext(record)
}

/** Sets the row's next deadline, its kind and the time of the next charge to what the rules say of the order as it is now. */
export function scheduleNext(record: OrderRecord): void {
  const { next, gatewayCall: call } = advanceThrough(record.order, Number.NEGATIVE_INFINITY)
  const isCall = call !== null && (next === null || call.at < next.at)
  const at = isCall ? call.at : next?.at
  const first = at === undefined ? null : orNever(at)
  record.row.nextDeadline = first === null ? null : new Date(first)
  record.row.nextDueKind = first === null ? null : isCall ? 'charge' : (next?.kind ?? null)
  const charge = nextCharge(record.order)
  record.row.nextChargeTime = charge === null ? null : new Date(charge)
}

/** Returns the order's next deadline in real time, for its wake-up. */
export function orderDeadline(
  { nextDeadline, nextDueKind, clockOffset, movingTo }: Subscription,
  now: Date,
): Deadline {
  if (nextDeadline == null) return { dueBy: null }
  const dueBy = movingTo == null ? new Date(nextDeadline.getTime() - clockOffset) : now
  return { dueBy, gatewayCall: nextDueKind === 'charge' && dueBy <= now }
}

export function wakeOrder(unit: UnitOfWork, row: Subscription): void {
  unit.wake('subscription', row.id, orderDeadline(row, unit.now))
}
