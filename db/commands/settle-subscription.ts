import { LockMode } from '@mikro-orm/core'
import { settleOrder } from '../../billing/order-lifecycle.ts'
import { Subscription } from '../entities/index.ts'
import { orderState } from '../order-state.ts'
import { subscriptionEvent } from '../subscription-events.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

/** The order's row, locked until the transaction ends, as the database has it now; null when there is none. */
export async function lockSubscription(
  { em, organizationId }: UnitOfWork,
  id: string,
): Promise<Subscription | null> {
  return await em.findOne(
    Subscription,
    { organizationId, id },
    // Without the refresh the identity map would hand back a copy read before the lock was ours.
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  )
}

/**
 * Applies everything due on a locked order through `instant` (its own clock): states, revision, events, next deadline.
 * Early, late, twice or in pieces, the record comes out the same; instants already settled do nothing.
 */
export function settleSubscription(unit: UnitOfWork, order: Subscription, instant: number): void {
  if (order.settledThrough != null && instant < order.settledThrough.getTime()) return
  const { transitions, next } = settleOrder(orderState(order), instant)
  if (transitions.length > 0) {
    order.revision += 1
    order.updatedTime = unit.now
  }
  for (const transition of transitions) {
    order.status = transition.to
    if (transition.to === 'active') order.activationTime = new Date(transition.at)
    unit.emit(subscriptionEvent(order, transition.event, new Date(transition.at), unit.baseUrl))
  }
  order.nextDeadline = next === null ? null : new Date(next)
  order.settledThrough = new Date(instant)
}
