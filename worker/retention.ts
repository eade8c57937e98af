/** Removes what has served its time: once a day, in batches, so that no removal holds locks for long. */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import { MAINTENANCE_TIMEOUTS } from '../db/connection.ts'
import { openOrm } from '../db/orm.ts'
import { statement } from '../db/statement.ts'
import { type Loop, startLoop } from './loop.ts'

const DAY = 86_400_000
/** Rows per statement. */
const BATCH = 5_000

/** When a delivery has come to its end, its log is kept for 30 days; an event as long as a delivery of it. */
const ended = (row: string) =>
  `coalesce(${row}.ended_time, ${row}.created_time + interval '2 days') < now() - interval '30 days'
   and ${row}.status in ('delivered', 'exhausted', 'canceled') and not ${row}.resend_due`

/** A table, and the condition under which one of its rows is no longer needed; in this order. */
const EXPIRED = {
  // An answer is given again for a day; the second day leaves room for clocks that differ.
  idempotency_records: "created_time < now() - interval '2 days'",
  // A customer token lasts a day at most, and what it came of can end it until then.
  customer_tokens: "expired_time < now() - interval '1 hour'",
  authentication_tokens: "expired_time < now() - interval '2 days'",
  rate_limits: 'expire < extract(epoch from now()) * 1000',
  delivery_attempts: `exists (select from deliveries where deliveries.organization_id = delivery_attempts.organization_id
    and deliveries.id = delivery_attempts.delivery_id and ${ended('deliveries')})`,
  deliveries: ended('deliveries'),
  events: `created_time < now() - interval '30 days' and not exists (select from deliveries
    where deliveries.organization_id = events.organization_id and deliveries.event_id = events.id)`,
} as const

export function startRetention(databaseUrl: string, log: Logger, interval = DAY): Loop {
  return startLoop({
    name: 'retention',
    interval,
    log,
    async iterate() {
      // A connection of its own: it may read whole tables, which takes longer than a statement may elsewhere.
      const timeouts = MAINTENANCE_TIMEOUTS
      const orm = await openOrm({ databaseUrl, poolSize: 1, name: 'billing retention', timeouts })
      try {
        const removed = await removeExpired(orm.em.fork())
        if (removed > 0) log.info({ removed }, 'removed rows that had served their time')
      } finally {
        await orm.close()
      }
      return false
    },
  })
}

/** Removes everything that has expired, `batch` rows at a time; gives their number. */
export async function removeExpired(em: EntityManager, batch = BATCH): Promise<number> {
  let removed = 0
  for (const [table, condition] of Object.entries(EXPIRED)) {
    for (let last = batch; last === batch; removed += last) {
      const rows = await statement<object>(
        em,
        `remove-expired-${table}`,
        `delete from ${table} where ctid in (select ctid from ${table} where ${condition} limit ? for update skip locked) returning 1`,
        [batch],
      )
      last = rows.length
    }
  }
  return removed
}
