/** Removes expired rows once a day, in batches, so that no removal holds locks for long. */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import { withCancellation } from '../db/cancel-statements.ts'
import { MAINTENANCE_TIMEOUTS } from '../db/connection.ts'
import { statement } from '../db/statement.ts'
import { eachByItself } from './each-by-itself.ts'
import { type Loop, startLoop } from './loop.ts'

const DAY = 86_400_000
/** Of a removal that failed. Each further failure doubles it. */
const RETRY_AFTER = 60_000
const LONGEST_PAUSE = 3_600_000
const BATCH = 5_000

/** The log of a delivery is kept for 30 days after its end, and an event as long as any delivery of it. */
const ended = (row: string) =>
  `coalesce(${row}.ended_time, ${row}.created_time + interval '2 days') < now() - interval '30 days'
   and ${row}.status in ('delivered', 'exhausted', 'canceled') and not ${row}.resend_due`

/** In the order of removal. */
const EXPIRED: readonly (readonly [table: string, condition: string])[] = [
  // A stored response is replayed for a day; the second day allows for clocks that differ.
  ['idempotency_records', "created_time < now() - interval '2 days'"],
  // A customer token lasts a day at most, and its authentication token can revoke it until then.
  ['customer_tokens', "expired_time < now() - interval '1 hour'"],
  ['authentication_tokens', "expired_time < now() - interval '2 days'"],
  ['password_tokens', "expired_time < now() - interval '2 days'"],
  ['sign_in_failures', "failed_time < now() - interval '1 day'"],
  // A request is repeated for a day, and asked after for a month; by a caller for as long as its outcome is unknown.
  [
    'gateway_routes',
    `created_time < now() - interval '60 days'
       and not exists (select from transactions where transactions.organization_id = gateway_routes.organization_id
         and transactions.request_id = gateway_routes.request_id and transactions.status = 'pending')`,
  ],
  ['gateway_account_days', 'day < current_date - 60'],
  ['gateway_notifications', "status <> 'received' and received_time < now() - interval '30 days'"],
  ['api_requests', "created_time < now() - interval '30 days'"],
  ['rate_limits', 'expire < extract(epoch from now()) * 1000'],
  [
    'delivery_attempts',
    `exists (select from deliveries where deliveries.organization_id = delivery_attempts.organization_id
       and deliveries.id = delivery_attempts.delivery_id and ${ended('deliveries')})`,
  ],
  [
    'delivery_attempts',
    `created_time < now() - interval '30 days'
       and not exists (select from deliveries where deliveries.organization_id = delivery_attempts.organization_id
         and deliveries.id = delivery_attempts.delivery_id)`,
  ],
  // One whose time has passed since the removal of attempts has its own still, and stays until the next day.
  [
    'deliveries',
    `${ended('deliveries')}
       and not exists (select from delivery_attempts where delivery_attempts.organization_id = deliveries.organization_id
         and delivery_attempts.delivery_id = deliveries.id)`,
  ],
  [
    'events',
    `created_time < now() - interval '30 days' and not exists (select from deliveries
       where deliveries.organization_id = events.organization_id and deliveries.event_id = events.id)`,
  ],
]

export interface RetentionOptions {
  readonly databaseUrl: string
  readonly failures: { inc(): void }
  readonly log: Logger
  /** Milliseconds. */
  readonly retryAfter?: number
}

export function startRetention({
  databaseUrl,
  failures,
  log,
  retryAfter = RETRY_AFTER,
}: RetentionOptions): Loop {
  let pause = retryAfter
  return startLoop({
    name: 'retention',
    interval: DAY,
    log,
    clock: null,
    async iterate(_, stopping) {
      // A separate connection: it may read whole tables, which exceeds the usual statement timeout.
      const options = { databaseUrl, name: 'billing retention', timeouts: MAINTENANCE_TIMEOUTS }
      try {
        await withCancellation(options, stopping, async (em) => {
          const removed = await removeExpired(em, BATCH, stopping)
          if (removed > 0) log.info({ removed }, 'removed rows that had served their time')
        })
      } catch (error) {
        const repeatedAfter = pause
        pause = Math.min(LONGEST_PAUSE, pause * 2)
        failures.inc()
        log.warn({ err: error, repeatedAfter }, 'the removal of expired rows failed and will be repeated')
        return repeatedAfter
      }
      pause = retryAfter
      return false
    },
  })
}

/**
 * Returns the number of removed rows. Once `stopping` is aborted, no other batch begins.
 * @throws Error that hindered the removal from one table, after the removal from the others.
 */
export async function removeExpired(
  em: EntityManager,
  batch = BATCH,
  stopping?: AbortSignal,
): Promise<number> {
  let removed = 0
  await eachByItself(EXPIRED.entries(), async ([ordinal, [table, condition]]) => {
    for (let last = batch; last === batch && stopping?.aborted !== true; removed += last) {
      const rows = await statement<object>(
        em,
        `remove-expired-${table}-${ordinal}`,
        `delete from ${table} where ctid in (select ctid from ${table} where ${condition} limit ? for update skip locked) returning 1`,
        [batch],
      )
      last = rows.length
    }
  })
  return removed
}
