import { createWebhook } from '../../db/commands/create-webhook.ts'
import { Webhook as WebhookRow } from '../../db/entities/index.ts'
import { presentWebhook } from '../../db/representations/webhook.ts'
import { command, type OperationAnswer, type OperationContext } from '../operation.ts'
import { answerCreated, readOne } from '../resource.ts'
import type { Webhook } from '../schemas/webhook.ts'

export async function create(context: OperationContext): Promise<OperationAnswer> {
  const body = context.body as Webhook
  const row = await command(context, async (unit) =>
    createWebhook(unit, {
      url: body.url,
      method: body.method ?? 'POST',
      eventsFilter: body.eventsFilter ?? [],
      status: body.status ?? 'active',
      websiteId: body.websiteId ?? null,
    }),
  )
  return answerCreated(context, 'webhooks', row, presentWebhook)
}

export async function read(context: OperationContext): Promise<OperationAnswer> {
  return await readOne(context, WebhookRow, presentWebhook)
}
