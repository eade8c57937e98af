/** Limits the concurrent calls to Temporal: fewer while it is overloaded, none while it is unavailable. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isGrpcServiceError } from '@temporalio/client'

const FEWEST = 1
const FIRST = 8
const MOST = 32
const INCREMENT_AFTER = 16
const OVERLOAD_PAUSE = 200
/** The breaker opens when at least half of the latest calls got no response. */
const WINDOW = 16
const FEWEST_FAILURES = 6
/** Failures that pass, by their gRPC status. */
export const GRPC = { cancelled: 1, deadlineExceeded: 4, resourceExhausted: 8, unavailable: 14 } as const
const NO_RESPONSE: readonly number[] = [GRPC.cancelled, GRPC.deadlineExceeded, GRPC.unavailable]

export interface Throttle {
  /** True if so many calls failed that Temporal counts as unavailable. */
  readonly isOpen: boolean
  /** Once `stopping` is aborted, it waits for no overload to pass. */
  run<T>(items: readonly T[], call: (item: T) => Promise<void>, stopping: AbortSignal): Promise<void>
  succeeded(): void
  failed(error: unknown): void
  open(): void
  close(): void
}

export function createThrottle(): Throttle {
  let limit = FIRST
  let successes = 0
  let isOpen = false
  let latest: boolean[] = []
  let pausedUntil = 0

  const recordResult = (gotThrough: boolean): void => {
    latest = [...latest, gotThrough].slice(-WINDOW)
    const failures = latest.filter((one) => !one).length
    if (failures >= FEWEST_FAILURES && failures * 2 >= latest.length) isOpen = true
  }

  return {
    get isOpen() {
      return isOpen
    },
    async run(items, call, stopping) {
      const queue = items.values()
      const underWay = new Set<Promise<void>>()
      for (const item of queue) {
        const pause = pausedUntil - performance.now()
        if (pause > 0 && !isOpen) await sleep(pause, undefined, { signal: stopping }).catch(() => {})
        const running = call(item).finally(() => underWay.delete(running))
        underWay.add(running)
        while (underWay.size >= limit) await Promise.race(underWay)
      }
      await Promise.all(underWay)
    },
    succeeded() {
      recordResult(true)
      successes += 1
      if (successes < INCREMENT_AFTER) return
      successes = 0
      limit = Math.min(MOST, limit + 1)
    },
    failed(error) {
      const code = grpcCodeOf(error)
      if (code === GRPC.resourceExhausted) {
        successes = 0
        limit = Math.max(FEWEST, Math.floor(limit / 2))
        pausedUntil = performance.now() + OVERLOAD_PAUSE
      }
      recordResult(!hadNoResponse(error))
    },
    open() {
      isOpen = true
    },
    close() {
      isOpen = false
      latest = []
      limit = FIRST
    },
  }
}

export function hadNoResponse(error: unknown): boolean {
  const code = grpcCodeOf(error)
  return code !== null && NO_RESPONSE.includes(code)
}

/** Returns the gRPC status of an error or of its cause, or null if there is none. */
export function grpcCodeOf(error: unknown): number | null {
  for (let cause = error; Error.isError(cause); cause = cause.cause) {
    if (isGrpcServiceError(cause)) return cause.code
  }
  return null
}
