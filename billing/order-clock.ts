/**
 * The clock of one order, which never goes back, in milliseconds. At rest it is real time plus its offset. In a
 * fast-forward it is the clock of the execution, whose time Temporal skips, plus the `base` at which that began.
 */

export interface OrderClock {
  readonly offset: number
  /** The instant to which it is being moved; null: it is at rest. */
  readonly target: number | null
  readonly advancedTo: number | null
}

/** The execution's own clock; `base` turns it into the order's, null in the first iteration of a run. */
export interface ExecutionClock {
  readonly clock: number
  readonly base: number | null
}

export function clockTime({ offset, target, advancedTo }: OrderClock, now: number): number {
  return target === null ? now + offset : Math.max(now + offset, advancedTo ?? 0)
}

/** Returns the order's instant for its execution, at most the target, and the base for later iterations. */
export function executionTime(
  order: OrderClock,
  { clock, base }: ExecutionClock,
  now: number,
): { readonly instant: number; readonly base: number } {
  const { offset, target } = order
  if (offset === 0 && target === null) return { instant: clock + (base ?? 0), base: base ?? 0 }
  // At rest the clock follows real time, whatever the execution skipped. A moving clock follows the skipped time,
  // also of the sleep before the first task; a new run continues from the instant reached.
  const movingBase = base ?? clockTime(order, clock) - clock
  const nextBase = target === null ? clockTime(order, now) - clock : movingBase
  return { instant: Math.min(clock + nextBase, target ?? Number.POSITIVE_INFINITY), base: nextBase }
}

/** Returns the offset after a fast-forward. It grows: a clock that was moved never follows skipped time again. */
export function offsetAt(instant: number, now: number, { offset }: Pick<OrderClock, 'offset'>): number {
  return Math.max(offset + 1, instant - now)
}
