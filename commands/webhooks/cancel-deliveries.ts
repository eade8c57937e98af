import type { Webhook } from '../../db/entities/index.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { DUE } from '../../delivery/queue.ts'

/** None of its id so far is sent, even if the webhook becomes active again; `delivery/cancel-unsendable.ts` updates rows. */
export async function cancelDeliveries({ em }: Pick<UnitOfWork, 'em'>, webhook: Webhook): Promise<void> {
  const [row] = await statement<{ position: string }>(
    em,
    'last-delivery-position',
    `select last_value - case when is_called then 0 else 1 end as position from deliveries_position_seq`,
  )
  webhook.canceledThrough = Number(row?.position)
}

/** Those of a deleted webhook with the id of a new one were to go elsewhere. */
export async function cancelFormer(unit: UnitOfWork, webhook: Webhook): Promise<void> {
  const { em, organizationId } = unit
  const [row] = await statement<{ isLeft: boolean }>(
    em,
    'end-resends-of-webhook',
    `with ended as (
       update deliveries set resend_due = false, resend_again = false
        where ${DUE} and resend_due and organization_id = ? and webhook_id = ?
     )
     select exists (select from deliveries where ${DUE} and organization_id = ? and webhook_id = ?)
         or exists (select from deliveries where status = 'retrying' and organization_id = ? and webhook_id = ?)
         as "isLeft"`,
    [1, 2, 3].flatMap(() => [organizationId, webhook.id]),
  )
  if (row?.isLeft === true) await cancelDeliveries(unit, webhook)
}
