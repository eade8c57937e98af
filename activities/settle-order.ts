import { executionTime } from '../billing/order-clock.ts'
import { followFastForward } from '../db/commands/fast-forward.ts'
import { lockSubscription, type Outlook, settleSubscription } from '../db/commands/settle-subscription.ts'
import type { Subscription } from '../db/entities/index.ts'
import { orderClock } from '../db/order-record.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import type { Labels, SettleInput, SettleResult } from '../workflows/contract.ts'
import type { ActivityDependencies } from './dependencies.ts'

/** Settles an order through the workflow's instant and says when to look again. Repeating it does no harm. */
export async function settleOrder(
  { em, baseUrl, now, labels }: ActivityDependencies,
  { organizationId, recordId, clock, base }: SettleInput,
): Promise<SettleResult> {
  return await inUnitOfWork(em(), { organizationId, baseUrl, now: new Date(now()) }, async (unit) => {
    const order = await lockSubscription(unit, recordId)
    if (order === null) return { next: null, base: base ?? 0, labels: null }
    const { revision } = order
    const realTime = unit.now.getTime()
    const time = executionTime(orderClock(order), { clock, base }, realTime)
    const { turn, calls } = await settleSubscription(unit, order, time.instant)
    await followFastForward(unit, order, time.instant, revision)
    return {
      next: nextLook(order),
      // A clock that has just come to rest is read by another base.
      base: executionTime(orderClock(order), { clock, base: time.base }, realTime).base,
      calls,
      labels: labels ? orderLabels(order, turn) : null,
    }
  })
}

/** When the order has to be looked at again: where its clock is being moved, at the latest there. */
function nextLook({ nextDeadline, movingTo }: Subscription): number | null {
  if (nextDeadline == null) return null
  return Math.min(nextDeadline.getTime(), movingTo?.getTime() ?? Number.POSITIVE_INFINITY)
}

function orderLabels(order: Subscription, turn: Outlook['turn']): Labels {
  const next = order.nextDeadline?.toISOString() ?? null
  return {
    details: `Order **${order.id}** of customer ${order.customerId} is **${order.status}**, its latest invoice **${order.billingStatus}**.`,
    timer: next === null ? 'nothing due' : `${turn ?? 'next'} at ${next}`,
    attributes: {
      BillingOrganization: order.organizationId,
      BillingCustomer: order.customerId,
      BillingWebhook: null,
      BillingStatus: order.status,
      BillingNextDeadline: next,
    },
  }
}
