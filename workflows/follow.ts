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
  LONGEST_HISTORY,
  longestHistory,
  type SearchAttributeName,
  type Visibility,
  type WorkflowInput,
} from './contract.ts'
import { searchAttribute } from './search-attributes.ts'

/** Keeps a timer that fires slightly before its deadline from spinning. Milliseconds. */
const SHORTEST_WAIT = 50

/**
 * Runs until no deadline is left and every change is processed. `callGateway` makes the gateway call that `advance`
 * found due; it returns what the record then waits for, or null if the record has to be advanced first.
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
      const waiting = await attempt(() => callGateway(now()))
      if (waiting) result = waiting
    } else if (result.next === null && !changed) {
      return
    }
    // Also under constant changes: the new run advances the record first.
    if (isLong(input.longestHistory ?? LONGEST_HISTORY)) {
      await continueAsNew<(input: WorkflowInput) => Promise<void>>({
        organizationId,
        recordId,
        longestHistory: longestHistory(workflowInfo().workflowType),
        base,
      })
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

function isLong(longest: number): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo()
  return continueAsNewSuggested || historyLength > longest
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
