/**
 * Handles records that are more than five seconds late: Temporal is slow or unavailable, an execution was lost, or
 * a backup was restored. Orders are advanced and card data erased without Temporal; other records are woken through
 * the outbox, again after 5, 10, 20, 40 … seconds.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import type { OrderAdvancer } from '../activities/advance-order.ts'
import { LATE_ORGANIZATIONS } from '../commands/orders/advance-order.ts'
import { statement } from '../db/statement.ts'
import type { WorkflowName } from '../workflows/contract.ts'
import { type Loop, startLoop } from './loop.ts'
import type { Watchdog } from './watchdog.ts'

const INTERVAL = 1_000
/** Milliseconds after its deadline. */
export const LATE = 5_000
const BATCH = 500

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
  return startLoop({
    name: 'sweep',
    interval,
    log,
    watchdog,
    async iterate(progress) {
      const counts = new Map<WorkflowName, number>()
      const count = (workflow: WorkflowName, number: number): void => {
        if (number > 0) counts.set(workflow, (counts.get(workflow) ?? 0) + number)
      }
      count('token-expiry', await eraseExpiredCards(em()))
      const { woken, at } = await wakeLateRecords(em(), before)
      before = at
      for (const { workflow, number } of woken) count(workflow, number)
      const organizations = await statement<{ organizationId: string }>(
        em(),
        'late-organizations',
        LATE_ORGANIZATIONS,
        [LATE],
      )
      // One batch of each: an organization with many due orders delays neither the others nor the next iteration.
      const batches = await Promise.all(
        organizations.map(async ({ organizationId }) => {
          const batch = await orders.advanceDue(organizationId)
          count('subscription', batch.count)
          progress()
          return batch
        }),
      )
      for (const [workflow, number] of counts) late.inc({ workflow }, number)
      if (counts.size > 0) log.warn({ late: Object.fromEntries(counts) }, 'took care of late records')
      return batches.some(({ isMore }) => isMore)
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
  readonly at: Date
}

/**
 * Wakes late records without a pending wake-up; a null `before` wakes all. Orders that the sweep advances itself
 * are woken only to have an execution again: with the lowest priority, and not counted.
 */
export async function wakeLateRecords(em: EntityManager, before: Date | null): Promise<WokenRecords> {
  const rows = await statement<{ workflow: WorkflowName | null; number: number; at: Date | string }>(
    em,
    'wake-late-records',
    `with last as (
       select ?::timestamptz as at
     ), late as (
       (select 'subscription' as workflow, organization_id, id, next_deadline as deadline,
               next_due_kind is not distinct from 'charge' as gateway_call,
               quarantined_until is null and next_due_kind is distinct from 'charge' as is_advanced
          from subscriptions
         where clock_offset = 0 and ${isToBeWoken('next_deadline')} and ${IS_NOT_QUARANTINED}
         order by next_deadline limit ${BATCH})
       union all
       (select 'subscription', organization_id, id, ${REAL_DEADLINE},
               next_due_kind is not distinct from 'charge', false
          from subscriptions
         where clock_offset > 0 and moving_to is null
           and ${isToBeWoken(REAL_DEADLINE)} and ${IS_NOT_QUARANTINED}
         order by next_deadline limit ${BATCH})
       union all
       (select 'transaction', organization_id, id, next_inquiry_time, true, false from transactions
         where status = 'pending' and subscription_id is null and ${isToBeWoken('next_inquiry_time')}
           and ${IS_NOT_QUARANTINED}
         order by next_inquiry_time limit ${BATCH})
       union all
       (select 'webhook-delivery', organization_id, id, next_attempt_time, false, false from deliveries
         where status = 'retrying' and ${isToBeWoken('next_attempt_time')} and ${IS_NOT_QUARANTINED}
         order by next_attempt_time limit ${BATCH})
       union all
       (select 'transaction', organization_id, id, next_refund_time, false, false from transactions
         where ${isToBeWoken('next_refund_time')} and ${IS_NOT_QUARANTINED}
         order by next_refund_time limit ${BATCH})
       union all
       (select 'dispute-deadline', organization_id, id, deadline_time, false, false from disputes
         where status = 'response-needed' and ${isToBeWoken('deadline_time')} and ${IS_NOT_QUARANTINED}
         order by deadline_time limit ${BATCH})
       union all
       (select 'coupon', organization_id, id, issued_time, false, false from coupons
         where status = 'draft' and ${isToBeWoken('issued_time')} and ${IS_NOT_QUARANTINED}
         order by issued_time limit ${BATCH})
       union all
       (select 'coupon', organization_id, id, expired_time, false, false from coupons
         where status = 'issued' and ${isToBeWoken('expired_time')} and ${IS_NOT_QUARANTINED}
         order by expired_time limit ${BATCH})
       union all
       (select 'invoice', organization_id, id, next_deadline, false, false from invoices
         where ${isToBeWoken('next_deadline')} and ${IS_NOT_QUARANTINED}
         order by next_deadline limit ${BATCH})
     ), woken as (
       insert into wake_ups (workflow, organization_id, record_id, gateway_call, due_by)
       select workflow, organization_id, id, gateway_call,
              case when is_advanced then now() + interval '10 minutes' else deadline end
         from late
        where not exists (select from wake_ups waiting where waiting.workflow = late.workflow
                             and waiting.organization_id = late.organization_id and waiting.record_id = late.id)
       returning workflow, due_by
     )
     select now.at, counted.workflow, coalesce(counted.number, 0)::int as number
       from (select now() as at) now
       left join (select workflow, count(*) as number from woken where due_by < now() group by workflow) counted on true`,
    [before],
  )
  const [first] = rows
  if (first === undefined) throw new Error('a select of one row gave none')
  return {
    woken: rows.flatMap(({ workflow, number }) => (workflow === null ? [] : [{ workflow, number }])),
    at: new Date(first.at),
  }
}

const LATENESS = `interval '${LATE} milliseconds'`
/** Of an order whose clock was moved. */
const REAL_DEADLINE = "(next_deadline - clock_offset * interval '1 millisecond')"

/**
 * True once a record is late, and again when twice as late, and so on. Those that were woken before and are late still
 * take none of a batch, so that they hide no other.
 */
function isToBeWoken(deadline: string): string {
  const doublings = (instant: string) =>
    `floor(ln(greatest(extract(epoch from ${instant} - ${deadline})::float8 / ${LATE / 1_000}, 1e-9)) / ln(2::float8))`
  const last = '(select at from last)'
  return `${deadline} < now() - ${LATENESS} and (${last} is null or ${deadline} >= ${last} - ${LATENESS}
           or ${doublings('now()')} > ${doublings(last)})`
}
const IS_NOT_QUARANTINED = `(quarantined_until is null or quarantined_until < now() - ${LATENESS})`
