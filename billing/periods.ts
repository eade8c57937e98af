/** Service periods: boundary n is the anchor plus n periods, always counted from the anchor, in UTC. */
import { addDuration, type Duration, reach } from './durations.ts'

export type PeriodUnit = 'day' | 'week' | 'month' | 'year'

export interface Period {
  readonly unit: PeriodUnit
  /** At least 1. */
  readonly length: number
}

const NONE: Duration = { years: 0, months: 0, weeks: 0, days: 0, hours: 0, minutes: 0, seconds: 0 }

/** The duration one period lasts. */
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
 * Where period `number` ends: so many periods after the anchor, which is where period `anchorNumber` begins. Null: never,
 * or not begun.
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

/** The earliest instant an order may start at: one period before `now`. */
export function earliestStart(now: number, period: Period): number {
  return addDuration(now, periodDuration(period), -1)
}
