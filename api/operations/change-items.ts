import { lockSubscription } from '../../commands/orders/advance-order.ts'
import { changeSubscriptionItems, type GivenItemsChange } from '../../commands/orders/change-items.ts'
import { Subscription } from '../../db/entities/index.ts'
import { inDryRun, type UnitOfWork } from '../../db/unit-of-work.ts'
import { requirePreconditions } from '../http/preconditions.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { notFound } from '../resources/resource.ts'
import { respondIn } from '../resources/respond.ts'
import type { SubscriptionChange } from '../schemas/subscription.ts'
import { itemsOf, subscriptions } from './orders.ts'

/** A preview responds as the change would, and writes nothing. */
export async function postChangeItems(context: OperationContext): Promise<OperationResponse> {
  const { em, organizationId, baseUrl, now, params, preconditions } = context
  const id = params.id ?? ''
  const found = await em.findOne(Subscription, { organizationId, id })
  if (found === null) throw notFound(subscriptions, id)
  requirePreconditions(preconditions, found.revision)
  const body = context.body<SubscriptionChange>()
  const change = async (unit: UnitOfWork) => {
    const row = await lockSubscription(unit, id)
    if (row === null) throw notFound(subscriptions, id)
    requirePreconditions(preconditions, row.revision)
    return { row, lines: await changeSubscriptionItems(unit, row, changeOf(body)) }
  }
  if (body.preview !== true) {
    return await context.commit(async (unit) => {
      const { row } = await change(unit)
      return await respondIn(unit, context, subscriptions, row)
    })
  }
  const preview = await inDryRun(em, { organizationId, baseUrl, now: now() }, async (unit) => {
    const { row, lines } = await change(unit)
    row.queuedLines = [...lines]
    return await respondIn(unit, context, subscriptions, row)
  })
  // What is not written has no entity tag.
  return await context.commit(async () => ({ body: preview.body }))
}

function changeOf({ items, prorated, renewalPolicy }: SubscriptionChange): GivenItemsChange {
  const isReset = renewalPolicy === 'reset' || renewalPolicy === 'resetToRecurring'
  return { items: itemsOf(items), prorated, renewalPolicy: isReset ? 'reset' : 'retain' }
}
