import { executionTime } from '../billing/order-clock.ts'
import { followFastForward } from '../db/commands/fast-forward.ts'
import { lockSubscription, settleSubscription } from '../db/commands/settle-subscription.ts'
import type { Subscription } from '../db/entities/index.ts'
import { orderClock } from '../db/order-record.ts'
import { statement } from '../db/statement.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import type { Labels, SettleInput, SettleResult } from '../workflows/contract.ts'
import type { ActivityDependencies } from './dependencies.ts'

/**
 * Settles an order through the workflow's instant and says when to look again. Repeating it does no harm. Where something
 * is due, others may be due as well: settling many at once goes first, and this one by itself only where it is left.
 */
export async function settleOrder(
  dependencies: ActivityDependencies,
  input: SettleInput,
): Promise<SettleResult> {
  const { em, baseUrl, now, labels } = dependencies
  const seen = await lookAtOrder(dependencies, input)
  if (seen !== null) return seen
  const { organizationId, recordId, clock, base } = input
  return await inUnitOfWork(em(), { organizationId, baseUrl, now: new Date(now()) }, async (unit) => {
    const order = await lockSubscription(unit, recordId)
    if (order === null) return { next: null, base: base ?? 0, labels: null }
    const { revision } = order
    const realTime = unit.now.getTime()
    const time = executionTime(orderClock(order), { clock, base }, realTime)
    const calls = await settleSubscription(unit, order, time.instant)
    await followFastForward(unit, order, time.instant, revision)
    return {
      next: nextLook(order),
      // A clock that has just come to rest is read by another base.
      base: executionTime(orderClock(order), { clock, base: time.base }, realTime).base,
      calls,
      labels: labels ? orderLabels(order) : null,
    }
  })
}

/**
 * What `settleOrder` gives where nothing is due, or nothing any more once due orders have been settled together; null
 * where something is left to the order itself.
 */
export async function lookAtOrder(
  dependencies: Pick<ActivityDependencies, 'em' | 'labels' | 'settledTogether'>,
  input: SettleInput,
): Promise<SettleResult | null> {
  const order = await readOrder(dependencies, input)
  // One whose clock was moved is never among the others.
  if (order === null || order.hasMoved || !isDue(order, input)) return seenOf(dependencies, input, order)
  await dependencies.settledTogether()
  return seenOf(dependencies, input, await readOrder(dependencies, input))
}

/** What a look needs of the order's row; null when there is none. */
async function readOrder(
  { em }: Pick<ActivityDependencies, 'em'>,
  { organizationId, recordId }: SettleInput,
): Promise<SeenOrder | null> {
  const [row] = await statement<Omit<SeenOrder, 'nextDeadline'> & { nextDeadline: string | null }>(
    em(),
    'read-seen-order',
    `select organization_id as "organizationId", id, customer_id as "customerId", status,
            billing_status as "billingStatus", next_deadline as "nextDeadline", next_turn as "nextTurn",
            clock_offset <> 0 or moving_to is not null as "hasMoved"
       from subscriptions where organization_id = ? and id = ?`,
    [organizationId, recordId],
  )
  if (row === undefined) return null
  return { ...row, nextDeadline: row.nextDeadline === null ? null : new Date(row.nextDeadline) }
}

function isDue({ nextDeadline }: SeenOrder, { clock, base }: SettleInput): boolean {
  return nextDeadline != null && nextDeadline.getTime() <= clock + (base ?? 0)
}

function seenOf(
  { labels }: Pick<ActivityDependencies, 'labels'>,
  input: SettleInput,
  order: SeenOrder | null,
): SettleResult | null {
  const base = input.base ?? 0
  if (order === null) return { next: null, base, labels: null }
  if (order.hasMoved || isDue(order, input)) return null
  const next = order.nextDeadline?.getTime() ?? null
  return { next, base, calls: false, labels: labels ? orderLabels(order) : null }
}

/** When the order has to be looked at again: where its clock is being moved, at the latest there. */
function nextLook({ nextDeadline, movingTo }: Subscription): number | null {
  if (nextDeadline == null) return null
  return Math.min(nextDeadline.getTime(), movingTo?.getTime() ?? Number.POSITIVE_INFINITY)
}

type Shown = Pick<
  Subscription,
  'organizationId' | 'id' | 'customerId' | 'status' | 'billingStatus' | 'nextDeadline' | 'nextTurn'
>

interface SeenOrder extends Shown {
  readonly hasMoved: boolean
}

function orderLabels(order: Shown): Labels {
  const next = order.nextDeadline?.toISOString() ?? null
  return {
    details: `Order **${order.id}** of customer ${order.customerId} is **${order.status}**, its latest invoice **${order.billingStatus}**.`,
    timer: next === null ? 'nothing due' : `${order.nextTurn ?? 'next'} at ${next}`,
    attributes: {
      BillingOrganization: order.organizationId,
      BillingCustomer: order.customerId,
      BillingWebhook: null,
      BillingStatus: order.status,
      BillingNextDeadline: next,
    },
  }
}
