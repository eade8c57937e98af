/**
 * The watchdog: notices work that stands still, so that the process can say so and end.
 *
 * It counts its own ticks and not the time: a process that was paused as a whole has not stood still.
 */

export interface Watch {
  /** A piece of the work is done. */
  progress(): void
  /** The work is done. */
  end(): void
}

export interface Watchdog {
  watch(name: string): Watch
  /** Names of what has made no progress for `limit` ticks. */
  standing(): string[]
  stop(): void
}

export interface WatchdogOptions {
  /** Seconds without progress after which work counts as standing. */
  readonly limit?: number
  /** Milliseconds of a tick; a second but in tests. */
  readonly tick?: number
  /** Called once for each piece of work that stands. */
  readonly onStanding: (name: string) => void
}

export function startWatchdog({ limit = 30, tick = 1_000, onStanding }: WatchdogOptions): Watchdog {
  const watched = new Map<object, { readonly name: string; ticks: number }>()
  const timer = setInterval(() => {
    for (const work of watched.values()) {
      work.ticks += 1
      if (work.ticks === limit) onStanding(work.name)
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
    standing: () => [...watched.values()].filter(({ ticks }) => ticks >= limit).map(({ name }) => name),
    stop: () => clearInterval(timer),
  }
}
