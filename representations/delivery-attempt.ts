import type { DeliveryAttempt } from '../db/entities/index.ts'
import { type Link, resourceUrl } from './links.ts'

/** `request` is the text that was sent. */
export function presentDeliveryAttempt(attempt: DeliveryAttempt, request: string | null, baseUrl: string) {
  const url = (...segments: string[]) => resourceUrl(baseUrl, attempt.organizationId, ...segments)
  const links: Link[] = [
    { rel: 'self', href: url('tracking', 'webhooks', attempt.id) },
    { rel: 'event', href: url('events', attempt.eventId) },
    { rel: 'webhook', href: url('webhooks', attempt.webhookId) },
  ]
  return {
    id: attempt.id,
    organizationId: attempt.organizationId,
    source: 'webhooks' as const,
    webhookId: attempt.webhookId,
    deliveryId: attempt.deliveryId,
    attempt: attempt.attempt,
    eventId: attempt.eventId,
    eventType: attempt.eventType,
    entityId: attempt.entityId,
    url: attempt.url,
    method: attempt.method,
    status: attempt.status ?? null,
    failure: attempt.failure ?? null,
    duration: attempt.duration,
    initiatedTime: attempt.initiatedTime.toISOString(),
    sentTime: attempt.sentTime?.toISOString() ?? null,
    request,
    requestHeaders: attempt.requestHeaders,
    response: attempt.response ?? null,
    responseHeaders: attempt.responseHeaders ?? null,
    revision: attempt.revision,
    createdTime: attempt.createdTime.toISOString(),
    updatedTime: attempt.updatedTime.toISOString(),
    _links: links,
  }
}
