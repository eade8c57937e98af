/** Calls for one key that come while one is in progress share the next one, so that a burst costs few round trips. */

interface Caller<Result> {
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

interface Call<Result> {
  readonly begun: number
  /** Who came since it began: what it read may be older than they are. */
  waiting: Caller<Result>[]
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
    const end = (): void => {
      const next = call.waiting
      call.waiting = []
      if (latest.get(key) === call) latest.delete(key)
      if (next.length > 0) begin(key, next)
    }
    void run(key, callers.length)
      .then(
        (resultOf) => {
          for (const [place, { resolve }] of callers.entries()) resolve(resultOf(place))
        },
        (error: unknown) => {
          for (const { reject } of callers) reject(error)
        },
      )
      .finally(end)
  }
  return (key) =>
    new Promise((resolve, reject) => {
      const caller = { resolve, reject }
      const call = latest.get(key)
      if (call !== undefined && now() - call.begun < LONGEST_WAIT) return void call.waiting.push(caller)
      const waiting = call?.waiting.splice(0) ?? []
      begin(key, [...waiting, caller])
    })
}
