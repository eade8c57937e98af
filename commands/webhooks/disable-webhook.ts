import { Webhook } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { DISABLING } from '../../delivery/retry-schedule.ts'
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
  if (webhook?.status !== 'active' || webhook.firstFailureTime == null) return false
  const since = unit.now.getTime() - webhook.firstFailureTime.getTime()
  if (webhook.consecutiveFailures < DISABLING.failures || since < DISABLING.after) return false
  Object.assign(webhook, {
    status: 'inactive',
    deactivationReason: `${webhook.consecutiveFailures} consecutive attempts failed since ${webhook.firstFailureTime.toISOString()}.`,
    revision: webhook.revision + 1,
    updatedTime: unit.now,
  })
  await cancelDeliveries(unit, webhook)
  emitWebhookEvent(unit, webhook, 'webhook-disabled')
  return true
}
