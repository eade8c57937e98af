const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Waits before an owed refund is attempted again, each from the last failure (decisions 6.5). Milliseconds. */
export const REFUND_WAITS: readonly number[] = [HOUR, 6 * HOUR, DAY, 3 * DAY, 7 * DAY]

/** `at` is the last of `failed` failures in a row; null: no more attempts. */
export function nextRefundTime(failed: number, at: number): number | null {
  const wait = REFUND_WAITS[failed - 1]
  return wait === undefined ? null : at + wait
}
