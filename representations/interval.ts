import type { RecurringInterval } from '../billing/order-terms.ts'

/** An order has no anchor of its own. */
export function presentOrderInterval(interval: RecurringInterval | null | undefined) {
  if (interval == null) return null
  const { unit, length, limit, billingTiming = 'prepaid' } = interval
  return { unit, length, limit, billingTiming }
}

export function presentInterval(interval: RecurringInterval | null | undefined) {
  if (interval == null) return null
  const { periodAnchorInstruction = null } = interval
  const isWeekly = periodAnchorInstruction?.method === 'day-of-week'
  return {
    ...presentOrderInterval(interval),
    periodAnchorInstruction: isWeekly
      ? { ...periodAnchorInstruction, week: 'next' }
      : periodAnchorInstruction,
  }
}
