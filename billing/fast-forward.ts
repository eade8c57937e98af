import { type Duration, reach } from './durations.ts'
import type { FieldProblem } from './errors.ts'
import { clockTime, type OrderClock } from './order-clock.ts'

const FARTHEST: Duration = { years: 5, months: 0, weeks: 0, days: 0, hours: 0, minutes: 0, seconds: 0 }

export function moveProblem(order: OrderClock, target: number, now: number): FieldProblem | null {
  if (target < clockTime(order, now)) {
    return { code: 'in-the-past', message: 'must not be before the current time of the order' }
  }
  const farthest = reach(now, FARTHEST)
  return farthest !== null && target > farthest
    ? { code: 'out-of-range', message: 'must be at most five years ahead of real time' }
    : null
}

/** A fast-forward without progress for this long blocks no other. Milliseconds. */
export const STALLED_AFTER = 60_000

export const STALLED_DETAIL =
  'The order was not advanced within a minute. Fast-forward it again once the workers and Temporal are running.'

export const QUARANTINED_DETAIL =
  'The order could not be advanced any further because of an internal error. Its clock stays at the time reached. Fast-forward it again later.'

export function hasStalled(
  { status, progressTime }: { readonly status: string; readonly progressTime: Date },
  now: Date,
): boolean {
  return status === 'running' && now.getTime() - progressTime.getTime() > STALLED_AFTER
}
