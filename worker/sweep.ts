/**
 * Handles records that are more than five seconds late: Temporal is slow or unavailable, an execution was lost, a
 * backup was restored, or more is due than can be processed. Orders are advanced and card data erased without Temporal; other records are woken through
 * the outbox, again after 5, 10, 20, 40 … seconds.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import type { OrderAdvancer } from '../activities/advance-order.ts'
import { LATE_ORGANIZATIONS } from '../commands/orders/advance-order.ts'
import { statement } from '../db/statement.ts'
import type { WorkflowName } from '../workflows/contract.ts'
import { eachByItself } from './each-by-itself.ts'
import { type Loop, startLoop } from './loop.ts'
import type { Watchdog } from './watchdog.ts'

const INTERVAL = 1_000
/** Milliseconds after its deadline. */
export const LATE = 5_000
const BATCH = 500
/** Organizations whose orders are advanced at a time. */
const AT_ONCE = 16

export interface SweepOptions {
  readonly em: () => EntityManager
  readonly orders: Pick<OrderAdvancer, 'advanceDue'>
  readonly late: { inc(labels: { workflow: WorkflowName }, count: number): void }
  readonly log: Logger
  readonly watchdog?: Watchdog
  readonly interval?: number
}

export function startSweep(options: SweepOptions): Loop {
  const { em, orders, late, log, watchdog, interval = INTERVAL } = options
  let before: Date | null = null
  let page: Page | null = null
  return startLoop({
    name: 'sweep',
    interval,
    log,
    watchdog,
    // Orders are advanced by a process whose clock agrees, which `orders` sees to.
    clock: null,
    async iterate(progress, stopping) {
      const counts = new Map<WorkflowName, number>()
      const count = (workflow: WorkflowName, number: number): void => {
        if (number > 0) counts.set(workflow, (counts.get(workflow) ?? 0) + number)
      }
      let isMore = false
      const erase = async (): Promise<void> => {
        count('token-expiry', await eraseExpiredCards(em()))
      }
      const wake = async (): Promise<void> => {
        const { woken, at, next } = await wakeLateRecords(em(), before, page)
        // What did not fit was late then already, and would not be found as having become late since.
        if (next === null) before = at
        else isMore = true
        page = next
        for (const { workflow, number } of woken) count(workflow, number)
      }
      /** One batch of each: an organization with many due orders delays neither the others nor the next iteration. */
      const advance = async (): Promise<void> => {
        const organizations = await statement<{ organizationId: string }>(
          em(),
          'late-organizations',
          LATE_ORGANIZATIONS,
          [LATE],
        )
        const advanceDue = async ({ organizationId }: { readonly organizationId: string }): Promise<void> => {
          const batch = await orders.advanceDue(organizationId).finally(progress)
          count('subscription', batch.count)
          if (batch.isMore) isMore = true
        }
        await eachByItself(organizations, advanceDue, { atOnce: AT_ONCE, stopping })
      }
      try {
        await eachByItself([erase, wake, advance], (part) => part().finally(progress))
      } finally {
        for (const [workflow, number] of counts) late.inc({ workflow }, number)
        if (counts.size > 0) log.warn({ late: Object.fromEntries(counts) }, 'took care of late records')
      }
      return isMore
    },
  })
}

/** Erases the card data of tokens that expired more than five seconds ago and returns their number. */
export async function eraseExpiredCards(em: EntityManager): Promise<number> {
  const erased = await statement<object>(
    em,
    'erase-expired-cards',
    `update payment_tokens set card_cipher = null
      where (organization_id, id) in (
        select organization_id, id from payment_tokens
         where card_cipher is not null and expiration_time < now() - interval '${LATE} milliseconds'
         order by expiration_time limit ${BATCH} for update skip locked)
     returning 1`,
  )
  return erased.length
}

export interface WokenRecords {
  readonly woken: readonly { readonly workflow: WorkflowName; readonly number: number }[]
  /** What was late then is woken, by this page or the next ones. */
  readonly at: Date
  /** Null if this page was the last. */
  readonly next: Page | null
}

/** Where the pages after it begin. */
export interface Page {
  readonly at: Date
  readonly after: readonly Place[]
}

/** Column, organization and id of a record, by which the records of a kind are ordered. */
type Place = readonly [string, string, string]
const FIRST: Place = ['-infinity', '', '']
const LAST: Place = ['infinity', '', '']

/**
 * Wakes late records without a pending wake-up, of each kind a page: those that have become late since `before`, of which
 * all were woken that were late then. A null `before` wakes all. Orders that the sweep advances itself are woken only
 * to have an execution again: with the lowest priority, and not counted.
 */
export async function wakeLateRecords(
  em: EntityManager,
  before: Date | null,
  page: Page | null = null,
): Promise<WokenRecords> {
  const [row] = await statement<{
    at: string
    woken: WokenRecords['woken']
    full: { kind: number; place: Place }[]
  }>(em, 'wake-late-records', WAKE_LATE_RECORDS, [
    before,
    page?.at ?? null,
    ...(page?.after ?? KINDS.map(() => FIRST)).flat(),
  ])
  if (row === undefined) throw new Error('a select of one row gave none')
  const { woken, full } = row
  const at = new Date(row.at)
  const after = KINDS.map((_, kind) => full.find((one) => one.kind === kind)?.place ?? LAST)
  return { woken, at, next: full.length === 0 ? null : { at, after } }
}

interface Kind {
  readonly workflow: WorkflowName
  readonly table: string
  readonly column: string
  /** In real time; default: the column. */
  readonly deadline?: string
  readonly condition: string
  readonly gatewayCall?: string
  /** The sweep advances these itself. */
  readonly isAdvanced?: boolean
}

const IS_CHARGED = "next_due_kind is not distinct from 'charge'"
const IS_ADVANCED = `clock_offset = 0 and quarantined_until is null and not ${IS_CHARGED}`

const KINDS: readonly Kind[] = [
  {
    workflow: 'subscription',
    table: 'subscriptions',
    column: 'next_deadline',
    condition: `clock_offset = 0 and not (${IS_ADVANCED})`,
    gatewayCall: IS_CHARGED,
  },
  {
    workflow: 'subscription',
    table: 'subscriptions',
    column: 'next_deadline',
    condition: IS_ADVANCED,
    isAdvanced: true,
  },
  {
    workflow: 'subscription',
    table: 'subscriptions',
    column: 'next_deadline',
    deadline: "(next_deadline - clock_offset * interval '1 millisecond')",
    condition: 'clock_offset > 0 and moving_to is null',
    gatewayCall: IS_CHARGED,
  },
  {
    workflow: 'transaction',
    table: 'transactions',
    column: 'next_inquiry_time',
    condition: "status = 'pending' and subscription_id is null",
    gatewayCall: 'true',
  },
  {
    workflow: 'transaction',
    table: 'transactions',
    column: 'next_refund_time',
    condition: 'next_refund_time is not null',
  },
  {
    workflow: 'webhook-delivery',
    table: 'deliveries',
    column: 'next_attempt_time',
    condition: "status = 'retrying'",
  },
  {
    workflow: 'dispute-deadline',
    table: 'disputes',
    column: 'deadline_time',
    condition: "status = 'response-needed'",
  },
  { workflow: 'coupon', table: 'coupons', column: 'issued_time', condition: "status = 'draft'" },
  { workflow: 'coupon', table: 'coupons', column: 'expired_time', condition: "status = 'issued'" },
  {
    workflow: 'invoice',
    table: 'invoices',
    column: 'next_deadline',
    condition: 'next_deadline is not null',
  },
]

const LATENESS = `interval '${LATE} milliseconds'`
const AT = '(select at from moment)'
const BEFORE = '(select before from moment)'

/**
 * True once a record is late or its quarantine has ended, and again when twice as late, and so on. Those that were woken
 * before and are late still take none of a page, so that they hide no other.
 */
function isToBeWoken(deadline: string): string {
  const doublings = (instant: string) =>
    `floor(ln(greatest(extract(epoch from ${instant} - ${deadline})::float8 / ${LATE / 1_000}, 1e-9)) / ln(2::float8))`
  return `${deadline} < ${AT} - ${LATENESS}
     and (quarantined_until is null or quarantined_until < ${AT} - ${LATENESS})
     and (${BEFORE} is null or ${deadline} >= ${BEFORE} - ${LATENESS} or quarantined_until >= ${BEFORE} - ${LATENESS}
          or ${doublings(AT)} > ${doublings(BEFORE)})`
}

const LATE_RECORDS = KINDS.map(
  (
    { workflow, table, column, deadline = column, condition, gatewayCall = 'false', isAdvanced = false },
    kind,
  ) =>
    `(select ${kind} as kind, '${workflow}' as workflow, organization_id, id, ${column} as place, ${deadline} as deadline,
             ${gatewayCall} as gateway_call, ${isAdvanced} as is_advanced
        from ${table}
       where ${condition} and ${isToBeWoken(deadline)}
         and (${column}, organization_id, id) > (?::timestamptz, ?, ?)
       order by ${column}, organization_id, id limit ${BATCH})`,
).join(' union all ')

const WAKE_LATE_RECORDS = `with moment as (
    select ?::timestamptz as before, date_trunc('milliseconds', coalesce(?::timestamptz, now())) as at
  ), late as (
    ${LATE_RECORDS}
  ), woken as (
    insert into wake_ups (workflow, organization_id, record_id, gateway_call, due_by)
    select workflow, organization_id, id, gateway_call,
           case when is_advanced then now() + interval '10 minutes' else deadline end
      from late
     where not exists (select from wake_ups waiting where waiting.workflow = late.workflow
                          and waiting.organization_id = late.organization_id and waiting.record_id = late.id)
    returning workflow, due_by
  ), counted as (
    select workflow, count(*) as number from woken where due_by < now() group by workflow
  ), numbered as (
    select *, row_number() over (partition by kind order by place, organization_id, id) as number from late
  )
  select ${AT} as at,
         (select coalesce(jsonb_agg(jsonb_build_object('workflow', workflow, 'number', number)), '[]') from counted) as woken,
         (select coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'place', jsonb_build_array(place, organization_id, id))), '[]')
            from numbered where number = ${BATCH}) as "full"`
