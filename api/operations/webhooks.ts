import { InvalidFieldsError } from '../../billing/errors.ts'
import { createWebhook, type NewWebhook } from '../../db/commands/create-webhook.ts'
import { Webhook as WebhookRow, Website } from '../../db/entities/index.ts'
import { webhookSearch } from '../../db/entities/webhook.ts'
import { references } from '../../db/references.ts'
import { presentWebhook } from '../../db/representations/webhook.ts'
import { webhookUrlProblem } from '../../delivery/webhook-url.ts'
import type { OperationContext } from '../operation.ts'
import { fieldsOf } from '../query/fields.ts'
import type { Resource, Writer } from '../resource.ts'
import { Webhook } from '../schemas/webhook.ts'

export const webhooks: Resource<WebhookRow> = {
  name: 'Webhook',
  label: 'webhook',
  path: 'webhooks',
  schema: Webhook,
  entity: WebhookRow,
  table: 'webhooks',
  search: webhookSearch,
  fields: fieldsOf(Webhook),
  present: (row, { baseUrl }) => presentWebhook(row, baseUrl),
}

export const webhookWriter: Writer<WebhookRow, Webhook> = {
  create(unit, id, body, context) {
    requireTarget(body.url, context)
    return createWebhook(unit, id, valuesOf(body))
  },
  async update(unit, row, body, context) {
    // What stands there was judged when it came; the networks that are open may have changed since.
    if (body.url !== row.url) requireTarget(body.url, context)
    const found = references(unit)
    await found.optional(Website, 'websiteId', body.websiteId ?? null)
    found.check()
    Object.assign(row, valuesOf(body))
  },
}

function requireTarget(url: string, { webhookTargets }: OperationContext): void {
  const message = webhookUrlProblem(url, webhookTargets)
  if (message !== null) throw new InvalidFieldsError([{ field: 'url', message }])
}

function valuesOf(body: Webhook): NewWebhook {
  return {
    url: body.url,
    method: body.method ?? 'POST',
    eventsFilter: body.eventsFilter ?? [],
    status: body.status ?? 'active',
    websiteId: body.websiteId ?? null,
  }
}
