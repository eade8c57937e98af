import type { Delivery, Event } from '../entities/index.ts'
import { type Link, resourceUrl } from './links.ts'

/** An event as the API shows it, with what became of its deliveries. */
export function presentEvent(event: Event, deliveries: readonly Delivery[], baseUrl: string) {
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
      status: delivery.status,
      attempts: delivery.attempts + delivery.resends,
      nextAttemptTime: delivery.nextAttemptTime?.toISOString() ?? null,
    })),
    revision: event.revision,
    createdTime: event.createdTime.toISOString(),
    updatedTime: event.updatedTime.toISOString(),
    _links: [self],
  }
}
