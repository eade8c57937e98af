import { createSubscription } from '../../db/commands/create-subscription.ts'
import { Subscription as SubscriptionRow } from '../../db/entities/index.ts'
import { presentSubscription } from '../../db/representations/subscription.ts'
import { command, type OperationAnswer, type OperationContext } from '../operation.ts'
import { answerCreated, readOne } from '../resource.ts'
import type { Subscription } from '../schemas/subscription.ts'

export async function create(context: OperationContext): Promise<OperationAnswer> {
  const body = context.body as Subscription
  const row = await command(context, (unit) =>
    createSubscription(unit, {
      customerId: body.customerId,
      websiteId: body.websiteId,
      items: body.items.map((item) => ({ plan: { id: item.plan.id }, quantity: item.quantity ?? 1 })),
      startTime: instant(body.startTime),
      abandonTime: instant(body.abandonTime),
      autopay: body.autopay ?? true,
      poNumber: body.poNumber ?? null,
      notes: body.notes ?? null,
      customFields: body.customFields ?? null,
    }),
  )
  return answerCreated(context, 'subscriptions', row, presentSubscription)
}

export async function read(context: OperationContext): Promise<OperationAnswer> {
  return await readOne(context, SubscriptionRow, presentSubscription)
}

function instant(text: string | null | undefined): Date | null {
  return text == null ? null : new Date(text)
}
