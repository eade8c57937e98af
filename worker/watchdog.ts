/** Counts its own ticks instead of time: a process that was paused as a whole has not stalled. */

export interface Watch {
  progress(): void
  end(): void
}

export interface Watchdog {
  watch(name: string): Watch
  /** Returns the names of work without progress for `limit` ticks. */
  stalled(): string[]
  stop(): void
}

export interface WatchdogOptions {
  /** Ticks without progress after which work counts as stalled. */
  readonly limit?: number
  readonly tick?: number
  readonly onStalled: (name: string) => void
}

export function startWatchdog({ limit = 30, tick = 1_000, onStalled }: WatchdogOptions): Watchdog {
  const watched = new Map<object, { readonly name: string; ticks: number }>()
  const timer = setInterval(() => {
    for (const work of watched.values()) {
      work.ticks += 1
      if (work.ticks === limit) onStalled(work.name)
    }
  }, tick).unref()
  return {
    watch(name) {
      const key = {}
      const work = { name, ticks: 0 }
      watched.set(key, work)
      return {
        progress() {
          work.ticks = 0
        },
        end() {
          watched.delete(key)
        },
      }
    },
    stalled: () => [...watched.values()].filter(({ ticks }) => ticks >= limit).map(({ name }) => name),
    stop: () => clearInterval(timer),
  }
}

/** Says what keeps a worker from being ready, or null. */
export function progressCheck(watchdog: Watchdog): () => Promise<string | null> {
  return async () => {
    const stalled = watchdog.stalled()
    return stalled.length === 0 ? null : `without progress: ${stalled.join(', ')}`
  }
}

/** Ends the process, so that another takes its place. The delay lets the log line out first. */
export function endStalled(): void {
  setTimeout(() => process.exit(70), 1_000)
}
