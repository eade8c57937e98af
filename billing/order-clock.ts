/**
 * The clock of one order, which the sandbox can fast-forward. It never goes back.
 *
 * Instants and offsets are milliseconds. At rest the order's instant is real time plus its offset. During a
 * fast-forward it is the clock of the order's execution, whose time Temporal skips, plus the `base` at which
 * that began.
 */

export interface OrderClock {
  readonly offset: number
  /** The instant to which it is being moved; null: it is at rest. */
  readonly target: number | null
  readonly advancedTo: number | null
}

/** The execution's own clock, and the base that turns it into the order's; null in the first iteration of a run. */
export interface ExecutionClock {
  readonly clock: number
  readonly base: number | null
}

/** Returns the order's instant at real time `now`; during a fast-forward, the instant reached so far. */
export function clockTime({ offset, target, advancedTo }: OrderClock, now: number): number {
  return target === null ? now + offset : Math.max(now + offset, advancedTo ?? 0)
}

/** Returns the order's instant for its execution, at most the target, and the base for the following iterations. */
export function executionTime(
  order: OrderClock,
  { clock, base }: ExecutionClock,
  now: number,
): { readonly instant: number; readonly base: number } {
  const { offset, target } = order
  if (offset === 0 && target === null) return { instant: clock + (base ?? 0), base: base ?? 0 }
  // A clock at rest follows real time, however much the execution skipped. A moving clock follows the skipped
  // time, that of the sleep before the first task included; a new run continues from the instant reached.
  const movingBase = base ?? clockTime(order, clock) - clock
  const nextBase = target === null ? clockTime(order, now) - clock : movingBase
  return { instant: Math.min(clock + nextBase, target ?? Number.POSITIVE_INFINITY), base: nextBase }
}

/**
 * Returns the clock's offset when a fast-forward ends at `instant` at real time `now`. It grows by at least a
 * millisecond, so that a clock that was moved once never follows skipped time again.
 */
export function offsetAt(instant: number, now: number, { offset }: Pick<OrderClock, 'offset'>): number {
  return Math.max(offset + 1, instant - now)
}
