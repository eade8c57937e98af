import type { Webhook } from '../db/entities/index.ts'
import { type Link, resourceUrl } from './links.ts'

/** Returns a webhook for events. Other receivers get these, so header values are masked. */
export function presentWebhookToOthers(webhook: Webhook, baseUrl: string) {
  const representation = presentWebhook(webhook, baseUrl)
  return { ...representation, headers: representation.headers.map((header) => ({ ...header, value: '***' })) }
}

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
    credentialHash: webhook.credentialHash ?? null,
    headers: webhook.headers,
    deactivationReason: webhook.deactivationReason ?? null,
    consecutiveFailures: webhook.consecutiveFailures,
    firstFailureTime: webhook.firstFailureTime?.toISOString() ?? null,
    revision: webhook.revision,
    createdTime: webhook.createdTime.toISOString(),
    updatedTime: webhook.updatedTime.toISOString(),
    _links: [self],
  }
}
