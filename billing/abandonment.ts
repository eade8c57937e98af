/** When a pending order is abandoned that names no `abandonTime` of its own. */
import { billingSettings, type GivenBillingSettings } from './billing-settings.ts'
import { parseDuration, reach } from './durations.ts'

/** Returns the later of creation and start plus the time to live of pending orders; null: never. */
export function defaultAbandonTime(
  given: GivenBillingSettings | undefined,
  created: number,
  start: number,
): number | null {
  const ttl = parseDuration(billingSettings(given).pendingOrderTtl ?? '')
  return ttl === null ? null : reach(Math.max(start, created), ttl)
}
