/** Boundary n is the anchor plus n periods, in UTC; boundaries are never derived from one another. */
import { addDuration, type Duration, reach } from './durations.ts'
import { EARLIEST_INSTANT } from './instants.ts'

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
 * Returns the anchor if period `number` begins at `begins`. With a day, it ends on the first such day after that, or never
 * if that is after the year 9999: the anchor is null. The anchor may be that of another period, an earlier one if it can,
 * in a month that has the day, so that short months do not move it.
 */
export function anchorFrom(
  interval: AnchoredPeriod,
  begins: number,
  number: number,
): { readonly anchor: number | null; readonly anchorNumber: number } {
  const instruction = interval.periodAnchorInstruction ?? null
  if (instruction === null) return { anchor: begins, anchorNumber: number }
  const first =
    instruction.method === 'day-of-month'
      ? nextDayOfMonth(begins, instruction.day)
      : dayOfWeek(begins, instruction.day)
  const isMonthly =
    instruction.method === 'day-of-month' && (interval.unit === 'month' || interval.unit === 'year')
  if (first === null || !isMonthly) return { anchor: first, anchorNumber: number + 1 }
  let [anchor, away] = [first, 0]
  for (const periods of ELSEWHERE) {
    if (new Date(anchor).getUTCDate() === instruction.day) break
    const other = reach(first, periodDuration(interval), periods)
    if (other === null || other < EARLIEST_INSTANT) continue
    const onItsDay = onDay(other, instruction.day)
    if (new Date(onItsDay).getUTCDate() > new Date(anchor).getUTCDate()) [anchor, away] = [onItsDay, periods]
  }
  return { anchor, anchorNumber: number + 1 + away }
}

/** Leap years come every eight years at the latest. */
const ELSEWHERE = [-1, 1].flatMap((sign) => Array.from({ length: 100 }, (_, index) => sign * (index + 1)))

/** Returns the first instant after `begins` at that day of a month, or at the last day of a shorter one; null: never. */
export function nextDayOfMonth(begins: number, day: number): number | null {
  const same = onDay(begins, day)
  if (same > begins) return same
  const next = reach(begins, { ...NONE, months: 1 })
  return next === null ? null : onDay(next, day)
}

function onDay(instant: number, day: number): number {
  const date = new Date(instant)
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  return date.setUTCDate(Math.min(day, last))
}

function dayOfWeek(begins: number, day: (typeof WEEKDAYS)[number]): number | null {
  const ahead = (WEEKDAYS.indexOf(day) - new Date(begins).getUTCDay() + 7) % 7
  return reach(begins, { ...NONE, days: ahead === 0 ? 7 : ahead })
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

/** Returns one period before now. */
export function earliestStart(now: number, period: Period): number {
  return addDuration(now, periodDuration(period), -1)
}
