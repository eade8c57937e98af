/** Service periods: boundary n is the anchor plus n periods, always counted from the anchor, in UTC. */
import { addDuration, type Duration } from './durations.ts'

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

/** The earliest instant an order may start at: one period before `now`. */
export function earliestStart(now: number, period: Period): number {
  return addDuration(now, periodDuration(period), -1)
}
