import type { Webhook } from '../../db/entities/index.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'

/** None so far is sent, even if the webhook becomes active again; `delivery/cancel-unsendable.ts` updates rows. */
export async function cancelDeliveries({ em }: Pick<UnitOfWork, 'em'>, webhook: Webhook): Promise<void> {
  const [row] = await statement<{ position: string }>(
    em,
    'last-delivery-position',
    'select last_value as position from deliveries_position_seq',
  )
  webhook.canceledThrough = Number(row?.position)
}
