import type { Webhook } from '../db/entities/index.ts'
import type { WebhookHeader } from '../db/entities/webhook.ts'
import { type Link, resourceUrl } from './links.ts'

/** Other receivers get these events, so header values are masked. */
export function presentWebhookToOthers(webhook: Webhook, baseUrl: string) {
  const headers = webhook.headers.map(({ name, status }) => ({ name, value: '***', status }))
  return presentWebhook(webhook, headers, baseUrl)
}

/** `headers` have their values. */
export function presentWebhook(webhook: Webhook, headers: readonly WebhookHeader[], baseUrl: string) {
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
    headers,
    deactivationReason: webhook.deactivationReason ?? null,
    consecutiveFailures: webhook.consecutiveFailures,
    firstFailureTime: webhook.firstFailureTime?.toISOString() ?? null,
    revision: webhook.revision,
    createdTime: webhook.createdTime.toISOString(),
    updatedTime: webhook.updatedTime.toISOString(),
    _links: [self],
  }
}
