/**
 * Notices when this process did not run: stopped, suspended with its machine, or its event loop blocked. Timers that fire
 * afterwards say nothing of a receiver, whose answer may have been waiting all the while.
 *
 * Instants are those of `performance.now()`, which goes on meanwhile.
 */

const TICK = 100
/** A tick later than this was missed because nothing ran. Milliseconds. */
const LONGEST_TICK = 1_000
const REMEMBERED = 300_000

export interface StandstillWatch {
  /** Milliseconds since then for which nothing ran; 0 where it was less than a second at a time. */
  since(instant: number): number
  close(): void
}

export function watchStandstill(): StandstillWatch {
  const seen: { readonly from: number; readonly to: number }[] = []
  let tickedAt = performance.now()
  /** What has passed since the last tick counts too: a timer can fire before the tick that would notice. */
  const look = (): void => {
    const now = performance.now()
    if (now - tickedAt < LONGEST_TICK) return
    seen.push({ from: tickedAt, to: now })
    tickedAt = now
    while (seen[0] !== undefined && seen[0].to < now - REMEMBERED) seen.shift()
  }
  const ticking = setInterval(() => {
    look()
    tickedAt = performance.now()
  }, TICK)
  ticking.unref()
  return {
    since(instant) {
      look()
      return seen.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, instant)), 0)
    },
    close: () => clearInterval(ticking),
  }
}

/** After a standstill what has arrived meanwhile is read first. Milliseconds. */
const GRACE = 1_000

/** The time limit of an attempt: so many milliseconds in which the process runs, from `begin` on. */
export interface Deadline {
  readonly signal: AbortSignal
  /** Counts from now on. */
  begin(): void
  /** Does not count until it is begun anew. */
  hold(): void
  /** Does not count any more. */
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
