/**
 * The sweep: wakes records whose deadline passed more than a minute ago with nothing having happened.
 *
 * Wake-ups and timers are enough while all goes well; this is for restored backups, lost namespaces and executions
 * that an operator ended.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import { WAKE_UP_CHANNEL } from '../db/channels.ts'
import { type Loop, startLoop } from './loop.ts'

const INTERVAL = 60_000

export function startSweep(em: () => EntityManager, log: Logger, interval = INTERVAL): Loop {
  return startLoop({
    name: 'sweep',
    interval,
    log,
    async turn() {
      const woken = await sweep(em())
      if (woken > 0) log.warn({ woken }, 'woke records whose deadline had passed unnoticed')
      return false
    },
  })
}

/** Wakes overdue records that no wake-up waits for already; gives their number. */
export async function sweep(em: EntityManager): Promise<number> {
  const rows = await em.getConnection().execute<unknown[]>(
    `with overdue as (
       select 'subscription' as workflow, organization_id, id from subscriptions
        where clock_offset = 0 and next_deadline < now() - interval '1 minute'
       union all
       select 'subscription', organization_id, id from subscriptions
        where clock_offset > 0
          and next_deadline < now() - interval '1 minute' + clock_offset * interval '1 millisecond'
       union all
       select 'token-expiry', organization_id, id from payment_tokens
        where card_cipher is not null and expiration_time < now() - interval '1 minute'
       union all
       select 'transaction', organization_id, id from transactions
        where status = 'pending' and next_inquiry_time < now() - interval '1 minute'
       union all
       select 'webhook-delivery', organization_id, id from deliveries
        where status = 'retrying' and next_attempt_time < now() - interval '1 minute'
       union all
       select 'dispute-deadline', organization_id, id from disputes
        where status = 'response-needed' and deadline_time < now() - interval '1 minute'
     )
     insert into wake_ups (workflow, organization_id, record_id, due_time)
     select workflow, organization_id, id, now() from overdue
      where not exists (select from wake_ups waiting where waiting.workflow = overdue.workflow
                         and waiting.organization_id = overdue.organization_id and waiting.record_id = overdue.id)
     returning pg_notify('${WAKE_UP_CHANNEL}', '')`,
  )
  return rows.length
}
