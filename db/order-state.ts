/** Between an order's row and what the rules of its life cycle read of it. */
import type { OrderState } from '../billing/order-lifecycle.ts'
import type { Subscription } from './entities/index.ts'

export function orderState(order: Subscription): OrderState {
  return {
    status: order.status,
    createdTime: order.createdTime.getTime(),
    startTime: order.startTime.getTime(),
    abandonTime: order.abandonTime?.getTime() ?? null,
    activationTime: order.activationTime?.getTime() ?? null,
  }
}
