/**
 * The sweep: wakes records whose deadline passed more than a minute ago with nothing having happened.
 *
 * Wake-ups and timers are enough while all goes well; this is for restored backups, lost namespaces and executions
 * that an operator ended. A record is woken a minute after its deadline and again after 2, 4, 8 … minutes, and whatever
 * is overdue when a worker starts: an engine that has fallen behind is not given more to do with every minute.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import { statement } from '../db/statement.ts'
import { type Loop, startLoop } from './loop.ts'

const INTERVAL = 60_000

export function startSweep(em: () => EntityManager, log: Logger, interval = INTERVAL): Loop {
  let before: Date | null = null
  return startLoop({
    name: 'sweep',
    interval,
    log,
    async turn() {
      const { woken, at } = await sweep(em(), before)
      before = at
      if (woken > 0) log.warn({ woken }, 'woke records whose deadline had passed unnoticed')
      return false
    },
  })
}

/**
 * Wakes overdue records that no wake-up waits for already.
 *
 * @param before when the sweep before this one took place, by the database's clock; null wakes all that is overdue.
 * @returns how many were woken, and the database's time of it.
 */
export async function sweep(em: EntityManager, before: Date | null): Promise<{ woken: number; at: Date }> {
  const [row] = await statement<{ woken: number; at: Date | string }>(
    em,
    'wake-overdue',
    `with overdue as (
       select 'subscription' as workflow, organization_id, id, now() - next_deadline as late from subscriptions
        where clock_offset = 0 and next_deadline < now() - interval '1 minute'
       union all
       select 'subscription', organization_id, id, now() + clock_offset * interval '1 millisecond' - next_deadline
         from subscriptions
        where clock_offset > 0
          and next_deadline < now() - interval '1 minute' + clock_offset * interval '1 millisecond'
       union all
       select 'token-expiry', organization_id, id, now() - expiration_time from payment_tokens
        where card_cipher is not null and expiration_time < now() - interval '1 minute'
       union all
       select 'transaction', organization_id, id, now() - next_inquiry_time from transactions
        where status = 'pending' and subscription_id is null and next_inquiry_time < now() - interval '1 minute'
       union all
       select 'webhook-delivery', organization_id, id, now() - next_attempt_time from deliveries
        where status = 'retrying' and next_attempt_time < now() - interval '1 minute'
       union all
       select 'dispute-deadline', organization_id, id, now() - deadline_time from disputes
        where status = 'response-needed' and deadline_time < now() - interval '1 minute'
     ), ages as (
       select *, extract(epoch from late) / 60 as minutes,
              extract(epoch from late - (now() - ?::timestamptz)) / 60 as minutes_before
         from overdue
     ), woken as (
       insert into wake_ups (workflow, organization_id, record_id, due_time)
       select workflow, organization_id, id, now() from ages
        where case when minutes_before > 1 then floor(log(2, minutes)) > floor(log(2, minutes_before)) else true end
          and not exists (select from wake_ups waiting where waiting.workflow = ages.workflow
                             and waiting.organization_id = ages.organization_id and waiting.record_id = ages.id)
       returning 1
     )
     select (select count(*) from woken)::int as woken, now() as at`,
    [before],
  )
  if (row === undefined) throw new Error('a select of one row gave none')
  return { woken: row.woken, at: new Date(row.at) }
}
