import type { Delivery, Event, Webhook } from '../db/entities/index.ts'
import { type Link, resourceUrl } from './links.ts'

export type Sendable = Pick<Webhook, 'status' | 'canceledThrough'>

/** `webhooks` by id, without deleted ones. */
export function presentEvent(
  event: Event,
  deliveries: readonly Delivery[],
  webhooks: ReadonlyMap<string, Sendable>,
  baseUrl: string,
) {
  const self: Link = { rel: 'self', href: resourceUrl(baseUrl, event.organizationId, 'events', event.id) }
  return {
    id: event.id,
    position: event.position,
    eventType: event.type,
    eventTime: event.eventTime.toISOString(),
    websiteId: event.websiteId ?? null,
    entityId: event.entityId,
    payload: JSON.parse(event.payload) as unknown,
    deliveries: deliveries.map((delivery) => ({
      id: delivery.id,
      webhookId: delivery.webhookId,
      attempts: delivery.attempts + delivery.resends,
      ...(isCanceled(delivery, webhooks.get(delivery.webhookId))
        ? { status: 'canceled', nextAttemptTime: null }
        : { status: delivery.status, nextAttemptTime: delivery.nextAttemptTime?.toISOString() ?? null }),
    })),
    revision: event.revision,
    createdTime: event.createdTime.toISOString(),
    updatedTime: event.updatedTime.toISOString(),
    _links: [self],
  }
}

/** True if the delivery will not be sent any more, even if its row is not updated yet. */
function isCanceled({ status, position }: Delivery, webhook: Sendable | undefined): boolean {
  if (status !== 'waiting' && status !== 'retrying') return false
  return webhook?.status !== 'active' || position <= (webhook.canceledThrough ?? 0)
}
