/** What a part measured, round by round, and what a reader needs to know beside it. */
import { median } from './statistics.ts'

export interface Metric {
  readonly what: string
  /** Of the values; what is a time is better the smaller it is, and its ratio says how many times the baseline it takes. */
  readonly unit: '/s' | 's' | 'ms' | 'MB'
  /** One value for each round. */
  readonly service: readonly number[]
  /** The baseline's value of the same rounds; empty where there is no baseline. */
  readonly baseline: readonly number[]
  /** Least ratio of service to baseline wanted; null where none was set. */
  readonly aim: number | null
  /** Further numbers by what they are. */
  readonly beside: Readonly<Record<string, number | null>>
  /** Under which conditions, in a sentence. */
  readonly note: string
}

/** Median of the rounds' ratios of service to baseline; null without a baseline. */
export function ratioOf({ service, baseline }: Metric): number | null {
  if (baseline.length === 0) return null
  return median(service.map((value, round) => value / (baseline[round] ?? Number.NaN)))
}

/** Whose CPU time is asked for: seconds used so far, null where the system does not tell. */
export type Meters<Name extends string> = Readonly<Record<Name, () => number | null>>

/** Runs `work` and gives, beside its result, the CPU seconds that each meter saw per 1,000 pieces of it. */
export async function withCpu<T, Name extends string>(
  meters: Meters<Name>,
  work: () => Promise<T>,
  pieces: (result: T) => number,
): Promise<{ result: T; cpu: Record<Name, number | null> }> {
  const read = () =>
    Object.entries<() => number | null>(meters).map(([name, meter]) => [name, meter()] as const)
  const before = new Map(read())
  const result = await work()
  const cpu = read().map(([name, after]) => {
    const earlier = before.get(name) ?? null
    return [name, after === null || earlier === null ? null : ((after - earlier) * 1000) / pieces(result)]
  })
  return { result, cpu: Object.fromEntries(cpu) as Record<Name, number | null> }
}

/** A load on the service or its baseline, with the CPU time of the process that answers and of the database. */
interface Loaded {
  readonly result: { readonly p50: number; readonly p99: number }
  readonly cpu: Readonly<Record<'server' | 'database', number | null>>
}

/** What stands beside the rate of a load and that of its baseline: latencies and CPU time, the median of the rounds. */
export function besideFloor(service: readonly Loaded[], bare: readonly Loaded[]): Metric['beside'] {
  return {
    'p50 ms': median(service.map(({ result }) => result.p50)),
    'p99 ms': median(service.map(({ result }) => result.p99)),
    'baseline p50 ms': median(bare.map(({ result }) => result.p50)),
    'baseline p99 ms': median(bare.map(({ result }) => result.p99)),
    'CPU s/1000': medianKnown(service.map(({ cpu }) => cpu.server)),
    'with database CPU s/1000': medianKnown(service.map(({ cpu }) => cpu.database)),
    'baseline CPU s/1000': medianKnown(bare.map(({ cpu }) => cpu.server)),
    'with its database CPU s/1000': medianKnown(bare.map(({ cpu }) => cpu.database)),
  }
}

/** The median of what is known; null where nothing is. */
export function medianKnown(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : median(known)
}
