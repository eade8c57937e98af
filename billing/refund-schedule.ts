/** When a refund that the service owes is attempted again (decisions 6.5). */

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Delays before an owed refund is attempted again, each after the failure before it. Milliseconds. */
export const REFUND_WAITS: readonly number[] = [HOUR, 6 * HOUR, DAY, 3 * DAY, 7 * DAY]

/** Returns when to attempt again after `failed` failures in a row, the last of them at `at`; null: no more attempts. */
export function nextRefundTime(failed: number, at: number): number | null {
  const wait = REFUND_WAITS[failed - 1]
  return wait === undefined ? null : at + wait
}
