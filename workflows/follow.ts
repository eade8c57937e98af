/**
 * The loop every workflow runs: ask what is due, wait durably for the next deadline or a change, ask again.
 *
 * The record is the truth and the workflow its alarm clock. There is no state here that a fresh run would miss, so an
 * operator may terminate or reset any execution: the next wake-up, or the sweep, starts it again.
 */
import {
  ActivityFailure,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow'
import {
  CHANGED_SIGNAL,
  type FollowInput,
  type Labels,
  type SearchAttributeName,
  type SettleInput,
  type SettleResult,
} from './contract.ts'
import { searchAttribute } from './labels.ts'

/** Shortest wait: a wake-up a little before its deadline must not spin. */
const SHORTEST_WAIT = 50

/**
 * Follows one record until nothing will be due any more and no change is waiting to be looked at. `call` does what
 * settling left to be asked of others.
 */
export async function follow(
  input: FollowInput,
  settle: (input: SettleInput) => Promise<SettleResult>,
  call: (input: SettleInput) => Promise<void> = async () => {},
): Promise<void> {
  const { organizationId, recordId } = input
  let base = input.base ?? null
  let changed = false
  setHandler(defineSignal(CHANGED_SIGNAL), () => {
    changed = true
  })
  let seen = input.seen ?? null
  const label = labeller(seen?.labels ?? null)
  const look = async (): Promise<SettleResult> => {
    // Lowered before settling: a change signalled meanwhile must be looked at again.
    changed = false
    return await settle({ organizationId, recordId, clock: Date.now(), base })
  }
  for (;;) {
    // What was seen is older than a change that came with the start.
    const result = seen ?? (await look())
    seen = null
    base = result.base
    if (result.calls) {
      await tried(() => call({ organizationId, recordId, clock: Date.now(), base }))
      continue
    }
    if (result.next === null && !changed) return
    if (result.next === null) continue
    // Whether or not something has changed meanwhile, or it would never come to it where changes do not end: the new run
    // settles first of all, and the server takes no ending while a signal waits.
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<(input: FollowInput) => Promise<void>>({ organizationId, recordId, base })
    }
    if (result.labels !== null) label(result.labels)
    const wait = Math.max(result.next - base - Date.now(), SHORTEST_WAIT)
    await condition(() => changed, wait, result.labels === null ? {} : { summary: result.labels.timer })
  }
}

/** Makes a call that gives up after a while, so that the next one comes with the time it is by then. */
async function tried(call: () => Promise<void>): Promise<void> {
  try {
    await call()
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error
  }
}

/** Writes labels where they differ from those written before, or at the start: each is an event of the history. */
function labeller(atStart: Labels | null): (labels: Labels) => void {
  let details: string | null = null
  const written = new Map<string, string | null>(Object.entries(atStart?.attributes ?? {}))
  return (labels) => {
    if (labels.details !== details) {
      details = labels.details
      setCurrentDetails(details)
    }
    const updates = Object.entries(labels.attributes).filter(
      ([name, value]) => (written.get(name) ?? null) !== value,
    )
    if (updates.length === 0) return
    upsertSearchAttributes(
      updates.map(([name, value]) => {
        written.set(name, value)
        return searchAttribute(name as SearchAttributeName, value)
      }),
    )
  }
}
