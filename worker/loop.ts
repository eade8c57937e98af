/** A loop that works while there is work, sleeps until it is nudged or its interval passes, and drains when stopped. */
import type { Logger } from 'pino'
import type { Watchdog } from './watchdog.ts'

export interface Loop {
  /** There may be work: the next iteration begins now. */
  nudge(): void
  /** Finishes the iteration under way, if any, and ends. */
  stop(): Promise<void>
}

export interface LoopOptions {
  readonly name: string
  /** Milliseconds between iterations when nothing nudges. */
  readonly interval: number
  readonly log: Logger
  /** Learns of an iteration that stands still. */
  readonly watchdog?: Watchdog | undefined
  /**
   * One iteration. True: there may be more, the next one begins at once; a number: it begins after so many milliseconds,
   * if that is sooner. One that throws is logged, and the next one comes after the interval. A long one calls `progress`
   * between its pieces.
   */
  readonly iterate: (progress: () => void) => Promise<boolean | number>
}

export function startLoop({ name, interval, log, watchdog, iterate: turn }: LoopOptions): Loop {
  let stopped = false
  let nudged = false
  let wake: () => void = () => {}

  const run = async (): Promise<void> => {
    while (!stopped) {
      nudged = false
      let more: boolean | number = false
      const watch = watchdog?.watch(name)
      try {
        more = await turn(() => watch?.progress())
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
