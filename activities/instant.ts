import type { AdvanceInput } from '../workflows/contract.ts'
import type { Advancing } from './advancing.ts'

/**
 * Returns the instant through which a record is advanced, in milliseconds: never ahead of real time unless
 * executions skip time. @throws ClockSkewError while this process's clock differs from the database's.
 */
export function instantOf(
  { clock, now, skipsTime }: Pick<Advancing, 'clock' | 'now' | 'skipsTime'>,
  input: Pick<AdvanceInput, 'clock' | 'base'>,
): number {
  clock.requireAgreement()
  return heldBack({ now, skipsTime }, executionTimeOf(input))
}

export function executionTimeOf({ clock, base }: Pick<AdvanceInput, 'clock' | 'base'>): number {
  return clock + (base ?? 0)
}

/** Returns the execution's time, or real time if that is earlier and executions skip none. */
export function heldBack({ now, skipsTime }: Pick<Advancing, 'now' | 'skipsTime'>, time: number): number {
  return skipsTime ? time : Math.min(time, now())
}

/**
 * Returns when the execution has to wake for a deadline, on its own clock. Where that clock has passed a deadline that
 * real time has not, the execution waits as long as real time takes: waking at once, it would find nothing due.
 */
export function wakingTime<Deadline extends number | null>(
  deadline: Deadline,
  { time, instant }: { readonly time: number; readonly instant: number },
): Deadline | number {
  return deadline === null || deadline > time || instant === time
    ? deadline
    : time + Math.max(0, deadline - instant)
}
