import { milliseconds } from '../../billing/instants.ts'
import { clockTime, type OrderClock } from '../../billing/order-clock.ts'
import type { Subscription } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'

type ClockColumns = Pick<Subscription, 'clockOffset' | 'movingTo' | 'advancedTo'>

export function orderClock({ clockOffset, movingTo, advancedTo }: ClockColumns): OrderClock {
  return {
    offset: clockOffset,
    target: milliseconds(movingTo),
    advancedTo: milliseconds(advancedTo),
  }
}

export function orderInstant({ now }: Pick<UnitOfWork, 'now'>, row: ClockColumns): number {
  return clockTime(orderClock(row), now.getTime())
}
