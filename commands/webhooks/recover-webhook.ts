import { encodeTime } from 'ulid'
import { ConflictError } from '../../billing/errors.ts'
import { RESEND_CHANNEL } from '../../db/channels.ts'
import { Webhook } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'

/**
 * Makes one attempt more, at once, of each delivery made since an instant whose attempts failed; a schedule goes on beside
 * it. Returns how many; null: no such webhook. Throws ConflictError when the webhook is inactive.
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
       update deliveries set resend_due = true
        where organization_id = ? and webhook_id = ? and id >= ? and created_time >= ?
          and status in ('retrying', 'exhausted', 'canceled') and attempts > 0 and not resend_due
       returning 1
     )
     select count(*)::int as count from recovered`,
    [organizationId, id, firstId(since), since],
  )
  const count = recovered?.count ?? 0
  if (count > 0) unit.nudge(RESEND_CHANNEL)
  return count
}

/** Ids of deliveries begin with their time, so that a range of the primary key holds them; it begins early, as clocks differ. */
function firstId(since: Date): string {
  return `dlv_${encodeTime(Math.max(0, since.getTime() - CLOCK_MARGIN))}`
}

/** Milliseconds. */
const CLOCK_MARGIN = 60_000
