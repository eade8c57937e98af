/**
 * The loop of every workflow: advance the record, wait durably for its next deadline or a change, advance it again.
 *
 * The record is the truth and the workflow its alarm clock. A fresh run misses nothing that is kept here, so an operator
 * may terminate or reset any execution: the next wake-up, or the sweep, starts it again.
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
  type AdvanceInput,
  type AdvanceResult,
  CHANGED_SIGNAL,
  type SearchAttributeName,
  type Visibility,
  type WorkflowInput,
} from './contract.ts'
import { searchAttribute } from './search-attributes.ts'

/** Shortest wait, in milliseconds: a timer a little ahead of its deadline must not spin. */
const SHORTEST_WAIT = 50
/** Events after which a run continues as new: a short history is read again quickly by another worker. */
const LONGEST_HISTORY = 500

/**
 * Runs until the record has no deadline left and no change is unseen. `callGateway` makes the gateway call that `advance`
 * found due; it gives null, or how long the record is quarantined.
 */
export async function follow(
  input: WorkflowInput,
  advance: (input: AdvanceInput) => Promise<AdvanceResult>,
  callGateway: (input: AdvanceInput) => Promise<AdvanceResult | null> = async () => null,
): Promise<void> {
  const { organizationId, recordId } = input
  let base = input.base ?? null
  let changed = false
  setHandler(defineSignal(CHANGED_SIGNAL), () => {
    changed = true
  })
  const show = visibilityWriter()
  for (;;) {
    // Lowered before advancing: a change signalled meanwhile must not be lost.
    changed = false
    const now = () => ({ organizationId, recordId, clock: Date.now(), base })
    let result = await advance(now())
    base = result.base
    if (result.gatewayCallDue) {
      const quarantined = await attempt(() => callGateway(now()))
      if (quarantined) result = quarantined
    } else if (result.next === null && !changed) {
      return
    }
    // Also while changes do not end: the new run advances first of all.
    if (isLong()) {
      await continueAsNew<(input: WorkflowInput) => Promise<void>>({ organizationId, recordId, base })
    }
    if (result.gatewayCallDue || result.next === null) continue
    if (result.visibility !== null) show(result.visibility)
    const wait = Math.max(result.next - base - Date.now(), SHORTEST_WAIT)
    await condition(
      () => changed,
      wait,
      result.visibility === null ? {} : { summary: result.visibility.timer },
    )
  }
}

function isLong(): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo()
  return continueAsNewSuggested || historyLength > LONGEST_HISTORY
}

/** Makes a call that gives up after a while: the record is advanced first, then the call is repeated at its new instant. */
async function attempt(call: () => Promise<AdvanceResult | null>): Promise<AdvanceResult | null> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error
    return null
  }
}

/** Writes details and search attributes where they differ from those the execution has: each is an event of the history. */
function visibilityWriter(): (visibility: Visibility) => void {
  let details: string | null = null
  const written = new Map<string, string>()
  for (const { key, value } of workflowInfo().typedSearchAttributes.getAll()) {
    written.set(key.name, value instanceof Date ? value.toISOString() : String(value))
  }
  return (visibility) => {
    if (visibility.details !== details) {
      details = visibility.details
      setCurrentDetails(details)
    }
    const updates = Object.entries(visibility.attributes).filter(
      ([name, value]) => (written.get(name) ?? null) !== value,
    )
    if (updates.length === 0) return
    upsertSearchAttributes(
      updates.map(([name, value]) => {
        if (value === null) written.delete(name)
        else written.set(name, value)
        return searchAttribute(name as SearchAttributeName, value)
      }),
    )
  }
}
