/**
 * Durations as the API writes them: a subset of ISO 8601, `P[nY][nM][nW][nD][T[nH][nM][nS]]`.
 * Instants are milliseconds since the Unix epoch throughout `billing/`; all calendar arithmetic is UTC.
 */
import { Temporal } from 'temporal-polyfill'
import { LATEST_INSTANT } from './instants.ts'

const PATTERN =
  /^P(?!$)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?!$)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/

export interface Duration {
  readonly years: number
  readonly months: number
  readonly weeks: number
  readonly days: number
  readonly hours: number
  readonly minutes: number
  readonly seconds: number
}

/** Null when malformed, zero, or with a component over 999,999,999. */
export function parseDuration(text: string): Duration | null {
  const match = PATTERN.exec(text)
  if (match === null) return null
  const [years, months, weeks, days, hours, minutes, seconds] = match
    .slice(1)
    .map((part) => Number(part ?? 0))
  const parts = { years, months, weeks, days, hours, minutes, seconds } as Record<keyof Duration, number>
  const values = Object.values(parts)
  if (values.every((value) => value === 0) || values.some((value) => value > 999_999_999)) return null
  return parts
}

/**
 * Months count from `instant`, so that repeated addition does not drift (31 Jan, 28 Feb, 31 Mar).
 * @throws RangeError after the year 9999.
 */
export function addDuration(instant: number, duration: Duration, times = 1): number {
  const { years, months, weeks, days, hours, minutes, seconds } = duration
  const date = Temporal.Instant.fromEpochMilliseconds(instant)
    .toZonedDateTimeISO('UTC')
    .add({ years: years * times, months: months * times }, { overflow: 'constrain' })
    .add({ weeks: weeks * times, days: days * times })
    .add({ hours: hours * times, minutes: minutes * times, seconds: seconds * times })
  if (date.epochMilliseconds > LATEST_INSTANT) throw new RangeError('instant beyond the year 9999')
  return date.epochMilliseconds
}

/** Returns null where `addDuration` throws: the instant never comes. */
export function reach(instant: number, duration: Duration, times = 1): number | null {
  try {
    return addDuration(instant, duration, times)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}
