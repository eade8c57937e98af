/** Calls for one key that come while one is in progress share the next one, so that a burst costs few round trips. */

interface Caller<Result> {
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

interface Call<Result> {
  readonly begun: number
  /** Who came since it began: what it read may be older than they are. */
  waiting: Caller<Result>[]
  timer?: NodeJS.Timeout
}

/** Milliseconds after which nobody waits for a call any more: its connection may be lost. */
const LONGEST_WAIT = 100

/**
 * Returns a function that calls `run` at once if no call for the key is in progress, and otherwise after it, once for
 * all that came meanwhile. `run` gets their number, and returns the result of each by its place among them. Every
 * caller's call begins after the caller came. An error is that of all.
 */
export function together<Result>(
  run: (key: string, callers: number) => Promise<(place: number) => Result>,
  now: () => number = () => performance.now(),
): (key: string) => Promise<Result> {
  const latest = new Map<string, Call<Result>>()
  const begin = (key: string, callers: readonly Caller<Result>[]): void => {
    const call: Call<Result> = { begun: now(), waiting: [] }
    latest.set(key, call)
    void run(key, callers.length)
      .then(
        (resultOf) => {
          for (const [place, { resolve }] of callers.entries()) resolve(resultOf(place))
        },
        (error: unknown) => {
          for (const { reject } of callers) reject(error)
        },
      )
      .finally(() => {
        release(key, call)
      })
  }
  /** Those that wait for the call wait no longer. */
  const release = (key: string, call: Call<Result>): void => {
    clearTimeout(call.timer)
    if (latest.get(key) === call) latest.delete(key)
    const waiting = call.waiting.splice(0)
    if (waiting.length > 0) begin(key, waiting)
  }
  return (key) =>
    new Promise((resolve, reject) => {
      const caller = { resolve, reject }
      const call = latest.get(key)
      if (call === undefined) return begin(key, [caller])
      call.waiting.push(caller)
      const left = LONGEST_WAIT - (now() - call.begun)
      if (left <= 0) release(key, call)
      else call.timer ??= setTimeout(() => release(key, call), left)
    })
}
