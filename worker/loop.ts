import type { Logger } from 'pino'
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
  /**
   * Returns true to continue at once, or the most milliseconds until the next iteration. After an error or false it
   * follows at the interval. A long iteration calls `progress` between its pieces.
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
