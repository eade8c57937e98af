/** A timer that fires after a standstill says nothing about a receiver: its response may have arrived meanwhile. */

const TICK = 100
/** Shorter pauses do not count. Milliseconds. */
const LONGEST_TICK = 1_000
const REMEMBERED = 300_000

export interface StandstillWatch {
  /** Returns the milliseconds since an instant of `performance.now()` in which the process did not run. */
  since(instant: number): number
  close(): void
}

export function watchStandstill(): StandstillWatch {
  const pauses: { readonly from: number; readonly to: number }[] = []
  let tickedAt = performance.now()
  /** The time since the last tick counts too: another timer can fire before the tick. */
  const check = (): void => {
    const now = performance.now()
    if (now - tickedAt < LONGEST_TICK) return
    pauses.push({ from: tickedAt, to: now })
    tickedAt = now
    while (pauses[0] !== undefined && pauses[0].to < now - REMEMBERED) pauses.shift()
  }
  const ticking = setInterval(() => {
    check()
    tickedAt = performance.now()
  }, TICK)
  ticking.unref()
  return {
    since(instant) {
      check()
      return pauses.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, instant)), 0)
    },
    close: () => clearInterval(ticking),
  }
}

const GRACE = 1_000

/** The time limit of an attempt, in milliseconds in which the process runs and it is not held. */
export interface Deadline {
  readonly signal: AbortSignal
  hold(): void
  /** Goes on with what remains. */
  resume(): void
  end(): void
}

export function startDeadline(limit: number, standstill: StandstillWatch): Deadline {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let remaining = limit
  /** Null while it is held. */
  let resumedAt: number | null = null
  let hasEnded = false
  const arm = (from: number, wait: number): void => {
    timer = setTimeout(() => {
      const stood = standstill.since(from)
      const left = remaining - (performance.now() - from - stood)
      if (stood === 0 || left <= 0) controller.abort()
      else arm(from, Math.max(left, GRACE))
    }, wait)
  }
  const deadline: Deadline = {
    signal: controller.signal,
    hold() {
      clearTimeout(timer)
      if (resumedAt === null) return
      remaining -= performance.now() - resumedAt - standstill.since(resumedAt)
      resumedAt = null
    },
    resume() {
      if (hasEnded || resumedAt !== null) return
      resumedAt = performance.now()
      arm(resumedAt, Math.max(0, remaining))
    },
    end() {
      hasEnded = true
      deadline.hold()
    },
  }
  deadline.resume()
  return deadline
}
