const HOUR = 3_600_000

/** Consecutive failures and milliseconds after which a webhook is disabled; only in a sandbox (specification 6.1). */
export const DISABLING = { failures: 70, after: 48 * HOUR } as const

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
