import { Webhook } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { isToBeDisabled } from '../../delivery/disabling.ts'
import { emitWebhookEvent } from '../../events/webhook-events.ts'
import { cancelDeliveries } from './cancel-deliveries.ts'

/**
 * Disables a webhook whose receiver has failed for too long, and emits an event for the others. A webhook
 * that had a successful delivery meanwhile, or is inactive already, is not changed.
 *
 * @returns true if it was disabled.
 */
export async function disableWebhook(unit: UnitOfWork, id: string): Promise<boolean> {
  const webhook = await lockRow(unit, Webhook, id)
  if (webhook?.status !== 'active' || !isToBeDisabled(webhook, unit.now)) return false
  Object.assign(webhook, {
    status: 'inactive',
    deactivationReason: `${webhook.consecutiveFailures} consecutive attempts failed since ${webhook.firstFailureTime?.toISOString()}.`,
    revision: webhook.revision + 1,
    updatedTime: unit.now,
  })
  await cancelDeliveries(unit, webhook)
  emitWebhookEvent(unit, webhook, 'webhook-disabled')
  return true
}
