import type { Webhook } from '../../db/entities/index.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'

/**
 * Cancels the deliveries of a locked webhook that becomes inactive: none so far is sent, even if the webhook
 * becomes active again. Their rows are updated later (`delivery/cancel-unsendable.ts`), because they may be many.
 */
export async function cancelDeliveries({ em }: Pick<UnitOfWork, 'em'>, webhook: Webhook): Promise<void> {
  const [row] = await statement<{ position: string }>(
    em,
    'last-delivery-position',
    'select last_value as position from deliveries_position_seq',
  )
  webhook.canceledThrough = Number(row?.position)
}
