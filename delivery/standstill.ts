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

/** The time limit of an attempt, in milliseconds in which the process runs. */
export interface Deadline {
  readonly signal: AbortSignal
  begin(): void
  hold(): void
  end(): void
}

export function startDeadline(limit: number, standstill: StandstillWatch): Deadline {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let hasEnded = false
  const arm = (begun: number, wait: number): void => {
    timer = setTimeout(() => {
      const stood = standstill.since(begun)
      const left = limit - (performance.now() - begun - stood)
      if (stood === 0 || left <= 0) controller.abort()
      else arm(begun, Math.max(left, GRACE))
    }, wait)
  }
  const deadline: Deadline = {
    signal: controller.signal,
    begin() {
      deadline.hold()
      if (!hasEnded) arm(performance.now(), limit)
    },
    hold: () => clearTimeout(timer),
    end() {
      hasEnded = true
      deadline.hold()
    },
  }
  deadline.begin()
  return deadline
}
