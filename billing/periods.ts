/** Service periods. Boundary n is the anchor plus n periods, in UTC; boundaries are never derived from one another. */
import { addDuration, type Duration, reach } from './durations.ts'

export type PeriodUnit = 'day' | 'week' | 'month' | 'year'

export interface Period {
  readonly unit: PeriodUnit
  /** At least 1. */
  readonly length: number
}

const NONE: Duration = { years: 0, months: 0, weeks: 0, days: 0, hours: 0, minutes: 0, seconds: 0 }

export function periodDuration({ unit, length }: Period): Duration {
  switch (unit) {
    case 'day':
      return { ...NONE, days: length }
    case 'week':
      return { ...NONE, weeks: length }
    case 'month':
      return { ...NONE, months: length }
    case 'year':
      return { ...NONE, years: length }
  }
}

/**
 * Returns where period `number` ends, counted from the anchor, which is the beginning of period `anchorNumber`; null:
 * never.
 */
export function endOfPeriod(
  {
    terms,
    anchor,
    anchorNumber,
  }: {
    readonly terms: { readonly interval: Period | null }
    readonly anchor: number | null
    readonly anchorNumber: number
  },
  number: number,
): number | null {
  if (terms.interval === null || anchor === null) return null
  return reach(anchor, periodDuration(terms.interval), number - anchorNumber + 1)
}

/** Returns the earliest permitted start of an order: one period before `now`. */
export function earliestStart(now: number, period: Period): number {
  return addDuration(now, periodDuration(period), -1)
}
