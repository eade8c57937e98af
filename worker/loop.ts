/** A loop that works while there is work, sleeps until it is nudged or its interval passes, and drains when stopped. */
import type { Logger } from 'pino'

export interface Loop {
  /** There may be work: look now. */
  nudge(): void
  /** Finishes the turn under way, if any, and ends. */
  stop(): Promise<void>
}

export interface LoopOptions {
  readonly name: string
  /** Milliseconds between looks when nothing nudges. */
  readonly interval: number
  readonly log: Logger
  /** One turn; true: there may be more, look again at once. A turn that throws is logged and tried again. */
  readonly turn: () => Promise<boolean>
}

export function startLoop({ name, interval, log, turn }: LoopOptions): Loop {
  let stopped = false
  let nudged = false
  let wake: () => void = () => {}

  const run = async (): Promise<void> => {
    while (!stopped) {
      nudged = false
      let more = false
      try {
        more = await turn()
      } catch (error) {
        log.warn({ err: error, loop: name }, 'a turn failed and will be tried again')
      }
      if (more || nudged || stopped) continue
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, interval)
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
