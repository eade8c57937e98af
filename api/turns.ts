/** Long work of this process is done by a few tasks at once, and organizations take turns. */
import { Problem } from './http/problems.ts'
import { retryHeaders } from './http/rate-limit.ts'

export interface Turns {
  /** Tasks at once. */
  readonly atOnce: number
  /** Tasks of an organization that may wait for their turn. */
  readonly mostWaiting: number
}

export interface Turn {
  readonly organizationId: string
  /** True if nobody waits for the result any more. */
  isGone(): boolean
}

/** Too many tasks of the organization are waiting, or nobody waits for this one any more. It has not begun. */
export class NoTurnError extends Error {
  override readonly name = 'NoTurnError'
}

/** Returns a function that runs a few tasks at once, those of organizations in turn. It throws `NoTurnError`. */
export function takingTurns({
  atOnce,
  mostWaiting,
}: Turns): <T>(turn: Turn, task: () => Promise<T>) => Promise<T> {
  /** By organization, those whose turn is next in front. */
  const waiting = new Map<string, (() => void)[]>()
  let running = 0
  const next = (): void => {
    const [first] = waiting
    if (first === undefined) {
      running -= 1
      return
    }
    const [organizationId, tasks] = first
    waiting.delete(organizationId)
    const start = tasks.shift()
    if (tasks.length > 0) waiting.set(organizationId, tasks)
    start?.()
  }
  return async ({ organizationId, isGone }, task) => {
    if (running < atOnce) running += 1
    else {
      const before = waiting.get(organizationId) ?? []
      if (before.length >= mostWaiting) throw new NoTurnError('Too many tasks are waiting.')
      waiting.set(organizationId, before)
      await new Promise<void>((resolve) => before.push(resolve))
    }
    try {
      if (isGone()) throw new NoTurnError('Nobody waits for the result any more.')
      return await task()
    } finally {
      next()
    }
  }
}

/** Throws `rate-limit-exceeded` with that detail if there is no turn. */
export async function refusedWithoutTurn<T>(detail: string, now: Date, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof NoTurnError)) throw error
    throw new Problem('rate-limit-exceeded', detail, {
      headers: retryHeaders(new Date(now.getTime() + RETRY_AFTER), now),
    })
  }
}

/** Milliseconds. */
const RETRY_AFTER = 10_000
