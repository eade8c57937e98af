import type { Webhook } from '../../db/entities/index.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'

/**
 * Ends what is on its way to a locked webhook that becomes inactive: nothing up to here is sent, also when it is active
 * again. However much that is, its rows follow later (`delivery/cancel-unsendable.ts`).
 */
export async function cancelDeliveries({ em }: Pick<UnitOfWork, 'em'>, webhook: Webhook): Promise<void> {
  const [row] = await statement<{ position: string }>(
    em,
    'last-delivery-position',
    'select last_value as position from deliveries_position_seq',
  )
  webhook.canceledThrough = Number(row?.position)
}
