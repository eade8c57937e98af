/** Stored instants lie between 1970 and 9999, UTC (decisions 2): PostgreSQL and JavaScript write these alike. */

export const EARLIEST_INSTANT = 0
export const LATEST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

const ISO =
  /^(\d{4}-\d\d-\d\d)[T ]((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d(?:\.\d{1,9})?))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i

/** Further decimals are dropped. Null for other texts and nonexistent days; the result may be out of range. */
export function parseInstant(text: string): number | null {
  const [, date, time, seconds = '00', offset = ''] = ISO.exec(text) ?? []
  if (date === undefined) return null
  const midnight = new Date(`${date}T00:00:00.000Z`)
  // The parser takes the 31st of every month.
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(date)) return null
  return Date.parse(`${date}T${time}:${seconds}${offset.toUpperCase()}`)
}

export function isInRange(instant: number): boolean {
  return instant >= EARLIEST_INSTANT && instant <= LATEST_INSTANT
}

/** A text has to be valid. */
export function milliseconds(time: Date | string | null | undefined): number | null {
  return typeof time === 'string' ? Date.parse(time) : (time?.getTime() ?? null)
}

/** Returns null after the year 9999: such an instant never comes. */
export function orNever(instant: number): number | null {
  return instant > LATEST_INSTANT ? null : instant
}
