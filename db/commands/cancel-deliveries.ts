import { statement } from '../statement.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

/**
 * Ends what is on its way to a webhook that is inactive or about to be deleted. The caller holds the webhook's row.
 *
 * Rows that someone holds are left: an attempt of theirs is being taken or recorded, and whoever does that asks for the
 * webhook's status itself. Waiting for them here could be waiting in a circle.
 */
export async function cancelDeliveries({ em, organizationId }: UnitOfWork, webhookId: string): Promise<void> {
  await statement(
    em,
    'cancel-deliveries-of-webhook',
    `with ended as (
       select id, status from deliveries
        where organization_id = ? and webhook_id = ? and status in ('waiting', 'retrying')
          for update skip locked
     ), canceled as (
       update deliveries delivery set status = 'canceled', next_attempt_time = null, lease_until = null, ended_time = now()
         from ended where delivery.organization_id = ? and delivery.id = ended.id
     )
     insert into wake_ups (workflow, organization_id, record_id, due_time)
     select 'webhook-delivery', ?, id, now() from ended where status = 'retrying'`,
    [organizationId, webhookId, organizationId, organizationId],
  )
}
