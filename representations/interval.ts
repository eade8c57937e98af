import { hasPeriod, type OrderInterval, type RecurringInterval } from '../billing/order-terms.ts'
import type { PeriodAnchor } from '../billing/periods.ts'

export function presentOrderInterval(interval: OrderInterval | null | undefined) {
  if (interval == null) return null
  if (hasPeriod(interval)) return presentInterval(interval)
  const { limit, periodAnchorInstruction: anchor } = interval
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(anchor === undefined
      ? {}
      : { periodAnchorInstruction: presentAnchor(anchor) ?? { method: 'immediately' } }),
  }
}

export function presentInterval(interval: RecurringInterval | null | undefined) {
  if (interval == null) return null
  const { unit, length, limit, billingTiming = 'prepaid', periodAnchorInstruction = null } = interval
  return {
    unit,
    length,
    limit,
    billingTiming,
    periodAnchorInstruction: presentAnchor(periodAnchorInstruction),
  }
}

function presentAnchor(anchor: PeriodAnchor | null) {
  return anchor?.method === 'day-of-week' ? { ...anchor, week: 'next' } : anchor
}
