/** When the sandbox disables a webhook (specification 6.1). */

const HOUR = 3_600_000

/** Consecutive failures, and milliseconds since the first of them, from which a webhook is disabled. */
export const DISABLING = { failures: 70, after: 48 * HOUR } as const

/** True if a receiver has failed so often and for so long at `now` that its webhook is disabled. */
export function isToBeDisabled(
  {
    consecutiveFailures,
    firstFailureTime,
  }: { readonly consecutiveFailures: number; readonly firstFailureTime?: Date | null | undefined },
  now: Date,
): boolean {
  if (firstFailureTime == null) return false
  return (
    consecutiveFailures >= DISABLING.failures && now.getTime() - firstFailureTime.getTime() >= DISABLING.after
  )
}
