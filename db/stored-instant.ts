/** Instants as PostgreSQL writes them, read strictly: a lenient parser takes the year 26 for 2026. */
import { isInRange, parseInstant } from '../billing/instants.ts'

/**
 * Returns an instant as PostgreSQL writes it, plain or in JSON, in milliseconds since 1970.
 *
 * @throws Error for a text that the service does not write: another notation, infinity, years before 1970 or after
 * 9999.
 */
export function storedInstant(text: string): number {
  const instant = parseInstant(text.replace(/[+-]\d\d$/, '$&:00'))
  if (instant === null || !isInRange(instant)) throw new Error(`the database holds no valid instant: ${text}`)
  return instant
}

/** What a connection in UTC writes of a `timestamptz(3)`. */
const UTC = /^((?:19[7-9]|[2-9]\d\d)\d-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,3}))?\+00$/

/** As `storedInstant`, in ISO 8601 with milliseconds and `Z`, which PostgreSQL itself never writes. */
export function storedInstantText(text: string): string {
  const [, date, time, decimals = ''] = UTC.exec(text) ?? []
  if (date === undefined) return new Date(storedInstant(text)).toISOString()
  return `${date}T${time}.${decimals.padEnd(3, '0')}Z`
}
