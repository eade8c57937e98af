/** The record holds all state, so an operator may terminate or reset any execution: it is started again. */
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

/** Keeps a timer that fires slightly before its deadline from spinning. Milliseconds. */
const SHORTEST_WAIT = 50
/** Events after which a run continues as new: another worker replays a short history quickly. */
const LONGEST_HISTORY = 500

/**
 * Runs until no deadline is left and every change is processed. `callGateway` makes the gateway call that `advance`
 * found due; it returns null, or the end of the record's quarantine.
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
    // Cleared before advancing, so that a change signalled meanwhile is not lost.
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
    // Also under constant changes: the new run advances the record first.
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

/** If the call gives up, the record is advanced first, and the call is repeated at the new instant. */
async function attempt(call: () => Promise<AdvanceResult | null>): Promise<AdvanceResult | null> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error
    return null
  }
}

/** Each write is an event of the history, so only changes are written. */
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
