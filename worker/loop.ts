import { once } from 'node:events'
import type { Logger } from 'pino'
import type { AgreedClock } from '../db/clock-agreement.ts'
import type { Watchdog } from './watchdog.ts'

export interface Loop {
  nudge(): void
  stop(): Promise<void>
}

export interface LoopOptions {
  readonly name: string
  readonly interval: number
  readonly log: Logger
  readonly watchdog?: Watchdog | undefined
  /** No iteration begins while the clocks differ; null: the loop goes by the database's clock alone. */
  readonly clock: AgreedClock | null
  /**
   * Returns true to continue at once, or the most milliseconds until the next iteration. After an error or false it
   * follows at the interval. A long iteration calls `progress` between its pieces, and begins no other once
   * `stopping` is aborted: the process waits for it to end.
   */
  readonly iterate: (progress: () => void, stopping: AbortSignal) => Promise<boolean | number>
}

export function startLoop({ name, interval, log, watchdog, clock, iterate }: LoopOptions): Loop {
  const stopping = new AbortController()
  const stopped = once(stopping.signal, 'abort')
  let nudged = false
  let wake: () => void = () => {}

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      nudged = false
      if (clock?.agrees() === false) {
        await Promise.race([clock.changed(), stopped])
        continue
      }
      let more: boolean | number = false
      const watch = watchdog?.watch(name)
      try {
        more = await iterate(() => watch?.progress(), stopping.signal)
      } catch (error) {
        log.warn({ err: error, loop: name }, 'an iteration failed and will be repeated')
      } finally {
        watch?.end()
      }
      if (more === true || nudged || stopping.signal.aborted) continue
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
      stopping.abort()
      wake()
      await finished
    },
  }
}
