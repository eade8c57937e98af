/** The webhook concerned does not receive the event, because its receiver fails. */
import type { EventType } from '../billing/event-types.ts'
import { changeTime } from '../db/change-row.ts'
import type { Webhook } from '../db/entities/index.ts'
import type { UnitOfWork } from '../db/unit-of-work.ts'
import { presentWebhookToOthers } from '../representations/webhook.ts'

export function emitWebhookEvent(
  unit: UnitOfWork,
  webhook: Webhook,
  type: Extract<EventType, `webhook-${string}`>,
  extra: Readonly<Record<string, unknown>> = {},
): void {
  const representation = presentWebhookToOthers(webhook, unit.baseUrl)
  unit.emit({
    type,
    time: changeTime(webhook, unit),
    websiteId: null,
    ids: { webhookId: webhook.id },
    embedded: { webhook: representation },
    links: representation._links.map((link) => ({ ...link, rel: 'webhook' })),
    extra,
    exceptWebhookId: webhook.id,
  })
}
