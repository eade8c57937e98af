/**
 * Instants as texts. Those that are accepted, stored and shown lie between the years 1970 and 9999, in UTC (decisions 2).
 * PostgreSQL and JavaScript write and read these alike.
 */

/** 1970-01-01T00:00:00.000Z, in milliseconds. */
export const EARLIEST_INSTANT = 0
/** 9999-12-31T23:59:59.999Z, in milliseconds. */
export const LATEST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

const ISO =
  /^(\d{4}-\d\d-\d\d)[T ]((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d(?:\.\d{1,9})?))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i

/**
 * Returns an ISO 8601 date-time with an offset in milliseconds since 1970; further decimals of the second are dropped.
 * Null for any other text, and for a day that does not exist. The result may lie outside of the range.
 */
export function parseInstant(text: string): number | null {
  const [, date, time, seconds = '00', offset = ''] = ISO.exec(text) ?? []
  if (date === undefined) return null
  // The parser takes the 31st of every month.
  if (date.slice(8) > '28' && !isDay(date)) return null
  const instant = Date.parse(`${date}T${time}:${seconds}${offset.toUpperCase()}`)
  return Number.isNaN(instant) ? null : instant
}

function isDay(date: string): boolean {
  const midnight = new Date(`${date}T00:00:00.000Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date)
}

/** True if the instant lies in the years that are stored and shown. */
export function isInRange(instant: number): boolean {
  return instant >= EARLIEST_INSTANT && instant <= LATEST_INSTANT
}

/** Returns the instant; null after the year 9999: it never comes. */
export function orNever(instant: number): number | null {
  return instant > LATEST_INSTANT ? null : instant
}
