import { isInRange, parseInstant } from '../billing/instants.ts'

/**
 * Returns milliseconds since 1970. Throws for what the service does not write: another notation, infinity,
 * years outside 1970 to 9999. A lenient parser would take the year 26 for 2026.
 */
export function storedInstant(text: string): number {
  const instant = parseInstant(text.replace(/[+-]\d\d$/, '$&:00'))
  if (instant === null || !isInRange(instant)) throw new Error(`the database holds no valid instant: ${text}`)
  return instant
}
