/** Which members of an order cannot be changed in which status (decisions 6.1). */
import type { OrderStatus } from './order.ts'

const ALWAYS = ['orderType', 'customerId', 'websiteId'] as const
const ONCE_STARTED = ['startTime', 'abandonTime', 'trial', 'isTrialOnly', 'recurringInterval'] as const
const ONCE_ENDED = ['items', 'shipping', 'couponIds', 'delinquencyPeriod', 'invoiceTimeShift'] as const

export type ImmutableMember =
  | (typeof ALWAYS)[number]
  | (typeof ONCE_STARTED)[number]
  | (typeof ONCE_ENDED)[number]

/** Returns the members that keep their values in this status; all others can be changed. */
export function immutableMembers(status: OrderStatus): readonly ImmutableMember[] {
  switch (status) {
    case 'pending':
      return ALWAYS
    case 'active':
    case 'paused':
      return [...ALWAYS, ...ONCE_STARTED]
    case 'canceled':
    case 'churned':
    case 'abandoned':
    case 'voided':
    case 'completed':
    case 'trial-ended':
      return [...ALWAYS, ...ONCE_STARTED, ...ONCE_ENDED]
  }
}
