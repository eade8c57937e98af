/**
 * The clock of one order, which the sandbox can move ahead of real time. It never goes back.
 *
 * Instants and offsets are milliseconds. At rest the order's instant is real time plus its offset. On the way to a
 * target it is what the execution that follows the order has reached, whose time Temporal skips: its own clock plus
 * the `base` that it began with.
 */
import { type Duration, reach } from './durations.ts'

export interface OrderClock {
  /** How far ahead of real time the clock is. */
  readonly offset: number
  /** Where it is being moved to; null: it rests. */
  readonly target: number | null
  /** How far the order has been settled. */
  readonly advancedTo: number | null
}

/** An execution's view: its own clock, and what makes it the order's; null on the first look of a run. */
export interface ExecutionClock {
  readonly clock: number
  readonly base: number | null
}

const FARTHEST: Duration = { years: 5, months: 0, weeks: 0, days: 0, hours: 0, minutes: 0, seconds: 0 }

/** The order's instant for whoever asks at real time `now`: on the way to a target, how far it has come. */
export function clockTime({ offset, target, advancedTo }: OrderClock, now: number): number {
  return target === null ? now + offset : Math.max(now + offset, advancedTo ?? 0)
}

/** The order's instant for its execution, not past the target, and the base by which it reads its clock from now on. */
export function executionTime(
  order: OrderClock,
  { clock, base }: ExecutionClock,
  now: number,
): { readonly instant: number; readonly base: number } {
  const { offset, target } = order
  if (offset === 0 && target === null) return { instant: clock + (base ?? 0), base: base ?? 0 }
  // A clock that rests goes by real time, however much the execution skipped. One on its way goes by what was skipped, in
  // the sleep before the first task too; a run that begins there goes on from where the order has come to.
  const onTheWay = base ?? clockTime(order, clock) - clock
  const nextBase = target === null ? clockTime(order, now) - clock : onTheWay
  return { instant: Math.min(clock + nextBase, target ?? Number.POSITIVE_INFINITY), base: nextBase }
}

/**
 * The offset of a clock that a move leaves at `instant` at real time `now`. It is more than it was, if only by a
 * millisecond: a clock that was moved never again goes by what Temporal skipped.
 */
export function offsetAt(instant: number, now: number, { offset }: Pick<OrderClock, 'offset'>): number {
  return Math.max(offset + 1, instant - now)
}

/** What is wrong with moving the clock to `target`, as words after the member's name; null when nothing is. */
export function moveProblem(order: OrderClock, target: number, now: number): string | null {
  if (target < clockTime(order, now)) return 'must not be before the current time of the order'
  const farthest = reach(now, FARTHEST)
  return farthest !== null && target > farthest ? 'must be at most five years ahead of real time' : null
}

/** A move that has settled nothing for so long blocks no other. Milliseconds. */
export const STALLED_AFTER = 60_000

export const STALLED_DETAIL =
  'The order was not advanced within a minute. Fast-forward it again once the workers and Temporal are running.'

/** True if a fast-forward has stopped making progress. */
export function hasStalled(
  { status, progressTime }: { readonly status: string; readonly progressTime: Date },
  now: Date,
): boolean {
  return status === 'running' && now.getTime() - progressTime.getTime() > STALLED_AFTER
}
