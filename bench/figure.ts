/** What a part measured, round by round, and what a reader needs to know beside it. */
import { cpuSeconds } from './program.ts'
import { median } from './statistics.ts'

export interface Figure {
  readonly what: string
  readonly unit: '/s' | 's'
  /** One value for each round. */
  readonly service: readonly number[]
  /** The floor's value of the same rounds; empty where there is no floor. */
  readonly floor: readonly number[]
  /** Least ratio of service to floor wanted; null where none was set. */
  readonly aim: number | null
  /** Further numbers by what they are. */
  readonly beside: Readonly<Record<string, number | null>>
  /** Under which conditions, in a sentence. */
  readonly note: string
}

/** Median of the rounds' ratios of service to floor; null without a floor. */
export function ratioOf({ service, floor }: Figure): number | null {
  if (floor.length === 0) return null
  return median(service.map((value, round) => value / (floor[round] ?? Number.NaN)))
}

/** Runs `work` and gives, beside its result, the CPU seconds per 1,000 pieces of it that a process used meanwhile. */
export async function withCpu<T>(
  pid: number,
  work: () => Promise<T>,
  pieces: (result: T) => number,
): Promise<{ result: T; cpu: number | null }> {
  const before = cpuSeconds(pid)
  const result = await work()
  const after = cpuSeconds(pid)
  return {
    result,
    cpu: before === null || after === null ? null : ((after - before) * 1000) / pieces(result),
  }
}

/** The median of what is known; null where nothing is. */
export function medianKnown(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : median(known)
}
