import type { RecurringInterval } from '../billing/order-terms.ts'

/** Shows the schedule of an order with the defaults of what it leaves out; it has no anchor of its own. */
export function presentOrderInterval(interval: RecurringInterval | null | undefined) {
  if (interval == null) return null
  const { unit, length, limit, billingTiming = 'prepaid' } = interval
  return { unit, length, limit, billingTiming }
}

/** Shows the schedule of a plan with the defaults of what it leaves out. */
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
