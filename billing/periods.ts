/** Boundary n is the anchor plus n periods, in UTC; boundaries are never derived from one another. */
import { addDuration, type Duration, reach } from './durations.ts'

export type PeriodUnit = 'day' | 'week' | 'month' | 'year'

export interface Period {
  readonly unit: PeriodUnit
  readonly length: number
}

export const WEEKDAYS = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
] as const

/** The day on which periods begin from the second one on; null: periods count from the beginning of service. */
export type PeriodAnchor =
  | { readonly method: 'day-of-month'; readonly day: number }
  | { readonly method: 'day-of-week'; readonly day: (typeof WEEKDAYS)[number] }

export interface AnchoredPeriod extends Period {
  readonly periodAnchorInstruction?: PeriodAnchor | null
}

/**
 * Returns the anchor if period `number` begins at `begins`. With a day, it ends on the first such day after that.
 * The anchor may be that of an earlier period, in a month that has the day, so that short months do not move it.
 */
export function anchorFrom(
  interval: AnchoredPeriod,
  begins: number,
  number: number,
): { readonly anchor: number; readonly anchorNumber: number } {
  const instruction = interval.periodAnchorInstruction ?? null
  if (instruction === null) return { anchor: begins, anchorNumber: number }
  const first =
    instruction.method === 'day-of-month'
      ? nextDayOfMonth(begins, instruction.day)
      : dayOfWeek(begins, instruction.day)
  const isMonthly =
    instruction.method === 'day-of-month' && (interval.unit === 'month' || interval.unit === 'year')
  let [anchor, back] = [first, 0]
  // Leap years come every eight years at the latest.
  for (let periods = 1; isMonthly && periods <= 100; periods += 1) {
    if (new Date(anchor).getUTCDate() === instruction.day) break
    const earlier = onDay(addDuration(first, periodDuration(interval), -periods), instruction.day)
    if (new Date(earlier).getUTCDate() > new Date(anchor).getUTCDate()) [anchor, back] = [earlier, periods]
  }
  return { anchor, anchorNumber: number + 1 - back }
}

/** Returns the first instant after `begins` at that day of a month, or at the last day of a shorter one. */
export function nextDayOfMonth(begins: number, day: number): number {
  const same = onDay(begins, day)
  return same > begins ? same : onDay(addDuration(begins, { ...NONE, months: 1 }), day)
}

function onDay(instant: number, day: number): number {
  const date = new Date(instant)
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  return date.setUTCDate(Math.min(day, last))
}

function dayOfWeek(begins: number, day: (typeof WEEKDAYS)[number]): number {
  const ahead = (WEEKDAYS.indexOf(day) - new Date(begins).getUTCDay() + 7) % 7
  return addDuration(begins, { ...NONE, days: ahead === 0 ? 7 : ahead })
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

/** Counts from the anchor, the beginning of period `anchorNumber`. Returns null if the period never ends. */
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

export function earliestStart(now: number, period: Period): number {
  return addDuration(now, periodDuration(period), -1)
}
