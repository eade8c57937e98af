/** A loop that runs while there is work, sleeps until a nudge or its interval, and drains when it is stopped. */
import type { Logger } from 'pino'
import type { Watchdog } from './watchdog.ts'

export interface Loop {
  /** Begins the next iteration at once: there may be work. */
  nudge(): void
  /** Finishes the iteration in progress, if any, and ends. */
  stop(): Promise<void>
}

export interface LoopOptions {
  readonly name: string
  /** Milliseconds between iterations without a nudge. */
  readonly interval: number
  readonly log: Logger
  /** Monitors iterations for lack of progress. */
  readonly watchdog?: Watchdog | undefined
  /**
   * Runs one iteration and returns the delay of the next: true means at once, a number means at most that many
   * milliseconds. An error is logged, and the next iteration follows after the interval. A long iteration calls
   * `progress` between its pieces.
   */
  readonly iterate: (progress: () => void) => Promise<boolean | number>
}

export function startLoop({ name, interval, log, watchdog, iterate }: LoopOptions): Loop {
  let stopped = false
  let nudged = false
  let wake: () => void = () => {}

  const run = async (): Promise<void> => {
    while (!stopped) {
      nudged = false
      let more: boolean | number = false
      const watch = watchdog?.watch(name)
      try {
        more = await iterate(() => watch?.progress())
      } catch (error) {
        log.warn({ err: error, loop: name }, 'an iteration failed and will be repeated')
      } finally {
        watch?.end()
      }
      if (more === true || nudged || stopped) continue
      const pause = typeof more === 'number' ? Math.min(more, interval) : interval
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pause)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      wake = () => {}
    }
  }
  const finished = run()
  return {
    nudge() {
      nudged = true
      wake()
    },
    async stop() {
      stopped = true
      wake()
      await finished
    },
  }
}
