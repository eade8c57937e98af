/** Members that cannot be changed in a status (decisions 6.1). */
import type { OrderStatus } from './order.ts'

const ALWAYS = ['orderType', 'customerId', 'websiteId'] as const
const ONCE_STARTED = ['startTime', 'abandonTime', 'trial', 'isTrialOnly', 'recurringInterval'] as const
const ONCE_ENDED = ['items', 'shipping', 'couponIds', 'delinquencyPeriod', 'invoiceTimeShift'] as const

export type ImmutableMember =
  | (typeof ALWAYS)[number]
  | (typeof ONCE_STARTED)[number]
  | (typeof ONCE_ENDED)[number]

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
