import { raiseRevision } from '../../db/change-row.ts'
import { Webhook } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { isToBeDisabled } from '../../delivery/disabling-rule.ts'
import { emitWebhookEvent } from '../../events/webhook-events.ts'
import { cancelDeliveries } from './cancel-deliveries.ts'

/** Returns false, and changes nothing, after a successful delivery meanwhile, or if it is inactive already. */
export async function disableWebhook(unit: UnitOfWork, id: string): Promise<boolean> {
  const webhook = await lockRow(unit, Webhook, id)
  if (webhook?.status !== 'active' || !isToBeDisabled(webhook, unit.now)) return false
  Object.assign(webhook, {
    status: 'inactive',
    deactivationReason: `${webhook.consecutiveFailures} consecutive attempts failed since ${webhook.firstFailureTime?.toISOString()}.`,
  })
  raiseRevision(webhook, unit)
  await cancelDeliveries(unit, webhook)
  emitWebhookEvent(unit, webhook, 'webhook-disabled')
  return true
}
