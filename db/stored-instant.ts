import { isInRange, parseInstant } from '../billing/instants.ts'

/**
 * Returns an instant as PostgreSQL writes it, plain or in JSON, in milliseconds since 1970.
 *
 * @throws Error for a text that the service does not write: another notation, infinity, years before 1970 or after
 * 9999. A lenient parser would take the year 26 for 2026.
 */
export function storedInstant(text: string): number {
  const instant = parseInstant(text.replace(/[+-]\d\d$/, '$&:00'))
  if (instant === null || !isInRange(instant)) throw new Error(`the database holds no valid instant: ${text}`)
  return instant
}
