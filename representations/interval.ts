import type { RecurringInterval } from '../billing/order-terms.ts'

/** Shows the schedule of a plan or an order with the defaults of what it leaves out. */
export function presentInterval(interval: RecurringInterval | null | undefined) {
  if (interval == null) return null
  const { unit, length, limit, billingTiming = 'prepaid', periodAnchorInstruction = null } = interval
  const isWeekly = periodAnchorInstruction?.method === 'day-of-week'
  return {
    unit,
    length,
    limit,
    billingTiming,
    periodAnchorInstruction: isWeekly
      ? { ...periodAnchorInstruction, week: 'next' }
      : periodAnchorInstruction,
  }
}
