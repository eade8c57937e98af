/** Compares this process's clock with the database's: deadlines are due by the same time on every machine. */
import type { EntityManager } from '@mikro-orm/postgresql'
import { InfrastructureError } from './infrastructure-failure.ts'
import { statement } from './statement.ts'

/** Milliseconds. */
export const TOLERANCE = 1_000
const INTERVAL = 2_000

export class ClockSkewError extends InfrastructureError {
  override readonly name = 'ClockSkewError'
}

export interface AgreedClock {
  /** False before the first measurement. */
  agrees(): boolean
  /** Resolves when `agrees()` changes, or when measuring stops. */
  changed(): Promise<void>
}

export interface DatabaseClock extends AgreedClock {
  /** @throws ClockSkewError while the clocks differ by more than a second. */
  requireAgreement(): void
  stop(): Promise<void>
}

/** Compares the clocks every two seconds. While the database is unavailable, the last measurement holds. */
export function watchDatabaseClock(em: () => EntityManager, now: () => number): DatabaseClock {
  let skew = Number.NaN
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let change = Promise.withResolvers<void>()
  const agrees = (): boolean => Math.abs(skew) <= TOLERANCE
  const notify = (): void => {
    change.resolve()
    change = Promise.withResolvers()
  }
  const measure = async (): Promise<void> => {
    const measured = await measureSkew(em(), now).catch(() => null)
    const before = agrees()
    if (measured !== null) skew = measured
    if (agrees() !== before) notify()
    if (stopped) return
    timer = setTimeout(() => {
      measuring = measure()
    }, INTERVAL).unref()
  }
  let measuring = measure()
  return {
    agrees,
    changed: () => change.promise,
    requireAgreement() {
      if (agrees()) return
      throw new ClockSkewError(
        Number.isNaN(skew)
          ? "the clock of this process has not been compared with the database's"
          : `the clock of this process is ${skew} ms ahead of the database's`,
      )
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      await measuring
      notify()
    },
  }
}

async function measureSkew(em: EntityManager, now: () => number): Promise<number> {
  const before = now()
  const time = await databaseTime(em)
  return certainSkew(time, { before, after: now() })
}

/** Milliseconds. For work of a process whose own clock has not been compared, as a command's. */
export async function databaseTime(em: EntityManager): Promise<number> {
  const [row] = await statement<{ time: string }>(
    em,
    'database-clock',
    'select extract(epoch from clock_timestamp()) * 1000 as time',
  )
  return Number(row?.time)
}

/** Returns the milliseconds by which this process is certainly ahead of the database; negative: behind. */
export function certainSkew(
  databaseTime: number,
  { before, after }: { readonly before: number; readonly after: number },
): number {
  if (databaseTime < before) return before - databaseTime
  return databaseTime > after ? after - databaseTime : 0
}
