import { defineEntity, p } from '@mikro-orm/core'
import { id, json, listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

export type WebhookMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What `q` searches. */
export const webhookSearch = searchExpression('url', 'website_id')

const WebhookSchema = defineEntity({
  name: 'Webhook',
  tableName: 'webhooks',
  indexes: listIndexes('webhooks', webhookSearch),
  properties: {
    ...tenantKey,
    url: p.text(),
    method: p.string().length(6).$type<WebhookMethod>(),
    eventsFilter: json<string[]>(),
    status: p.string().length(10).$type<'active' | 'inactive'>(),
    websiteId: id().nullable(),
    ...resourceColumns,
  },
})

/** A subscriber to events: where they are sent, and which. */
export class Webhook extends WebhookSchema.class {}
WebhookSchema.setClass(Webhook)
