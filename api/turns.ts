/** A document is made of many short pieces of work, one document at a time in this process. */

/** Documents of an organization that may wait for their turn. */
const MOST_WAITING = 20

/** Too many documents of the organization are waiting, or nobody waits for this one any more. */
export class NoTurnError extends Error {
  override readonly name = 'NoTurnError'
}

export interface Turn {
  readonly organizationId: string
  /** True if nobody waits for the result any more. */
  isGone(): boolean
}

/** Returns a function that runs tasks one at a time, those of organizations in turn. It throws `NoTurnError`. */
export function takingTurns(most = MOST_WAITING): <T>(turn: Turn, task: () => Promise<T>) => Promise<T> {
  /** By organization, those whose turn is next in front. */
  const waiting = new Map<string, (() => void)[]>()
  let isBusy = false
  const next = (): void => {
    const [first] = waiting
    isBusy = first !== undefined
    if (first === undefined) return
    const [organizationId, tasks] = first
    waiting.delete(organizationId)
    const start = tasks.shift()
    if (tasks.length > 0) waiting.set(organizationId, tasks)
    start?.()
  }
  return async ({ organizationId, isGone }, task) => {
    if (isBusy) {
      const before = waiting.get(organizationId) ?? []
      if (before.length >= most) throw new NoTurnError('Too many documents are waiting to be made.')
      waiting.set(organizationId, before)
      await new Promise<void>((resolve) => before.push(resolve))
    }
    isBusy = true
    try {
      if (isGone()) throw new NoTurnError('Nobody waits for the document any more.')
      return await task()
    } finally {
      next()
    }
  }
}
