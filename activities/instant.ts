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
  const instant = input.clock + (input.base ?? 0)
  return skipsTime ? instant : Math.min(instant, now())
}
