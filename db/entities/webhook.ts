import { defineEntity, p } from '@mikro-orm/core'
import { id, instant, json, listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

export type WebhookMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface WebhookHeader {
  name: string
  value: string
  status: 'active' | 'inactive'
}

/** The value is here only in rows of earlier releases that are not sealed yet. */
export type StoredHeader = Omit<WebhookHeader, 'value'> & Partial<Pick<WebhookHeader, 'value'>>

export const webhookSearch = searchExpression('url', 'website_id')

const WebhookSchema = defineEntity({
  name: 'Webhook',
  tableName: 'webhooks',
  indexes: [
    ...listIndexes('webhooks', webhookSearch),
    {
      name: 'webhooks_failing_index',
      expression:
        'create index "webhooks_failing_index" on "webhooks" ("first_failure_time") where "first_failure_time" is not null',
    },
  ],
  properties: {
    ...tenantKey,
    url: p.text(),
    method: p.string().length(6).$type<WebhookMethod>(),
    /** Names of event types, of other releases too. */
    eventsFilter: json<string[]>(),
    status: p.string().length(10).$type<'active' | 'inactive'>(),
    websiteId: id().nullable(),
    credentialHash: id().nullable(),
    headers: json<StoredHeader[]>().default('[]'),
    /** A JSON array; null: there are none. */
    headerValuesCipher: p.text().nullable(),
    deactivationReason: p.text().nullable(),
    /** Since the last successful attempt, over all deliveries. */
    consecutiveFailures: p.integer().default(0),
    /** Real time. */
    firstFailureTime: instant().nullable(),
    /** Position of the last delivery that was waiting when it last became inactive: none up to it is sent. */
    canceledThrough: p.bigint('number').nullable(),
    ...resourceColumns,
  },
})

export class Webhook extends WebhookSchema.class {}
WebhookSchema.setClass(Webhook)
