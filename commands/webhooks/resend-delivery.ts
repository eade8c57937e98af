import { ConflictError } from '../../billing/errors.ts'
import { RESEND_CHANNEL } from '../../db/channels.ts'
import { Delivery, Webhook } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'

/** Does not affect the schedule. False: the delivery has been removed. Throws ConflictError when the webhook is inactive or deleted. */
export async function resendDelivery(unit: UnitOfWork, deliveryId: string): Promise<boolean> {
  const { em, organizationId } = unit
  const delivery = await lockRow(unit, Delivery, deliveryId)
  if (delivery === null) return false
  const webhook = await em.findOne(Webhook, { organizationId, id: delivery.webhookId })
  if (webhook?.status !== 'active') {
    throw new ConflictError(
      webhook === null
        ? 'The webhook of this delivery has been deleted.'
        : 'The webhook of this delivery is inactive.',
    )
  }
  // The first attempt is due already.
  if (delivery.status === 'waiting') return true
  // An attempt that is under way began before this request.
  if (delivery.leaseOwner !== null) delivery.resendAgain = true
  delivery.resendDue = true
  unit.nudge(RESEND_CHANNEL)
  return true
}
