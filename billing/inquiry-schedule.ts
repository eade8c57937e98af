/** When the gateway is asked for an unknown outcome of a charge (decisions 6.5). Instants in milliseconds. */

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Time after which a charge without an outcome counts as not made. */
export const CHARGE_TIMEOUT = DAY

/** After 1, 5 and 30 minutes, then hourly through the first day, then daily for thirty days. */
export const INQUIRIES: readonly number[] = [
  MINUTE,
  5 * MINUTE,
  30 * MINUTE,
  ...Array.from({ length: 23 }, (_, hour) => (hour + 1) * HOUR),
  CHARGE_TIMEOUT,
  ...Array.from({ length: 30 }, (_, day) => CHARGE_TIMEOUT + (day + 1) * DAY),
]

/**
 * Returns the first inquiry after `instant` for a charge that counts as made at `charged`; null: no more follow. After the
 * call itself (`isCall`) that is within a minute, however late the call was.
 */
export function nextInquiry(charged: number, instant: number, isCall = false): number | null {
  const wait = INQUIRIES.find((after) => charged + after > instant)
  if (wait === undefined) return null
  return isCall ? Math.min(charged + wait, instant + MINUTE) : charged + wait
}
