const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** Waits before the retries, each counted from the end of the previous attempt (specification 6.1). */
export const RETRY_WAITS: readonly number[] = [30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 16 * HOUR]

export const MAX_ATTEMPTS = RETRY_WAITS.length + 1

/** Returns the instant of the attempt after the `attempts`th, which ended at `endedAt`, or null if none is left. */
export function nextAttemptTime(attempts: number, endedAt: number): number | null {
  const wait = RETRY_WAITS[attempts - 1]
  return wait === undefined ? null : endedAt + wait
}
