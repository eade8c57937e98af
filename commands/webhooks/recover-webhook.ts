import { encodeTime } from 'ulid'
import { ConflictError } from '../../billing/errors.ts'
import { RESEND_CHANNEL } from '../../db/channels.ts'
import { Webhook } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'

/**
 * Makes one attempt more, at once, of each delivery that failed, if it was made since an instant or an attempt of it has
 * failed since; a schedule goes on beside it. Returns how many; null: no such webhook. Throws ConflictError when the webhook is inactive.
 */
export async function recoverWebhook(unit: UnitOfWork, id: string, since: Date): Promise<number | null> {
  const { em, organizationId } = unit
  // A deactivation locks the same row.
  const webhook = await lockRow(unit, Webhook, id)
  if (webhook === null) return null
  if (webhook.status !== 'active') throw new ConflictError('The webhook is inactive.')
  const [recovered] = await statement<{ count: number }>(
    em,
    'recover-webhook',
    `with recovered as (
       update deliveries set resend_due = true, resend_again = resend_due
        where organization_id = ? and webhook_id = ?
          and status in ('retrying', 'exhausted', 'canceled') and attempts > 0
          and (not resend_due or (lease_owner is not null and not resend_again)) -- one that is under way began before
          and id in (
            select id from deliveries where organization_id = ? and webhook_id = ? and id >= ? and created_time >= ?
             union all
            select delivery_id from delivery_attempts
             where organization_id = ? and webhook_id = ? and created_time >= ? and initiated_time >= ? and failure is not null)
       returning 1
     )
     select count(*)::int as count from recovered`,
    [
      ...[organizationId, id],
      ...[organizationId, id, firstId(since), since],
      ...[organizationId, id, new Date(since.getTime() - CLOCK_MARGIN), since],
    ],
  )
  const count = recovered?.count ?? 0
  if (count > 0) unit.nudge(RESEND_CHANNEL)
  return count
}

/** Ids of deliveries begin with their time, so that a range of the primary key holds them. */
function firstId(since: Date): string {
  return `dlv_${encodeTime(Math.max(0, since.getTime() - CLOCK_MARGIN))}`
}

/** Milliseconds. A range of an index begins so much early, as the clocks of processes and database differ. */
const CLOCK_MARGIN = 60_000
