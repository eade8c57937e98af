import type { Webhook } from '../entities/index.ts'
import { type Link, resourceUrl } from './links.ts'

/** A webhook as the API and events show it. */
export function presentWebhook(webhook: Webhook, baseUrl: string) {
  const self: Link = {
    rel: 'self',
    href: resourceUrl(baseUrl, webhook.organizationId, 'webhooks', webhook.id),
  }
  return {
    id: webhook.id,
    url: webhook.url,
    method: webhook.method,
    eventsFilter: webhook.eventsFilter,
    status: webhook.status,
    websiteId: webhook.websiteId ?? null,
    revision: webhook.revision,
    createdTime: webhook.createdTime.toISOString(),
    updatedTime: webhook.updatedTime.toISOString(),
    _links: [self],
  }
}
