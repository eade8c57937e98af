import { median } from './statistics.ts'

export interface Metric {
  readonly what: string
  /** Times are better the smaller they are, and their ratio is a multiple of the baseline's. */
  readonly unit: '/s' | 's' | 'ms' | 'µs' | 'MB'
  readonly service: readonly number[]
  readonly baseline: readonly number[]
  /** The least ratio of service to baseline that is wanted; null if none is set. */
  readonly aim: number | null
  readonly beside: Readonly<Record<string, number | null>>
  readonly note: string
}

/** Returns the median of the rounds' ratios of service to baseline; null without a baseline. */
export function ratioOf({ service, baseline }: Metric): number | null {
  if (baseline.length === 0) return null
  return median(service.map((value, round) => value / (baseline[round] ?? Number.NaN)))
}

/** Functions that return the CPU seconds used so far, or null if the system does not report them. */
export type Meters<Name extends string> = Readonly<Record<Name, () => number | null>>

/** Returns the result with the CPU seconds of each meter per 1,000 pieces of work. */
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

interface Loaded {
  readonly result: { readonly p50: number; readonly p99: number }
  readonly cpu: Readonly<Record<'server' | 'database', number | null>>
}

export function besideBaseline(service: readonly Loaded[], bare: readonly Loaded[]): Metric['beside'] {
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

export function medianKnown(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : median(known)
}
