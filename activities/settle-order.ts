import { lockSubscription, type Outlook, settleSubscription } from '../db/commands/settle-subscription.ts'
import type { Subscription } from '../db/entities/index.ts'
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
    const ahead = base ?? order.clockOffset
    const { turn, calls } = await settleSubscription(unit, order, clock + ahead)
    return {
      next: order.nextDeadline?.getTime() ?? null,
      base: ahead,
      calls,
      labels: labels ? orderLabels(order, turn) : null,
    }
  })
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
