import { inUnitOfWork, type UnitOfWork } from '../db/unit-of-work.ts'
import { type AdvanceInput, type AdvanceResult, searchAttributesOf } from '../workflows/contract.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { executionTimeOf, instantOf, wakingTime } from './instant.ts'

/** What operators see of a record that waits for a deadline. */
interface Waiting {
  readonly details: string
  /** What happens at the deadline, as `lost`. */
  readonly timer: string
  readonly status: string
  readonly customerId?: string | null | undefined
}

export interface AdvancedRecord {
  /** The next deadline in milliseconds; null: none. */
  readonly next: number | null
  readonly waiting: Waiting
}

/**
 * Advances a record in one transaction, through the instant of its execution. `advance` locks it, and returns null
 * where nothing is left to follow. Idempotent where `advance` is.
 */
export async function advanceRecord(
  dependencies: ActivityDependencies,
  input: AdvanceInput,
  advance: (unit: UnitOfWork, recordId: string, instant: number) => Promise<AdvancedRecord | null>,
): Promise<AdvanceResult> {
  const { em, baseUrl, now } = dependencies
  const { organizationId, recordId } = input
  const instant = instantOf(dependencies, input)
  const base = input.base ?? 0
  const tenant = { organizationId, baseUrl, now: new Date(now()) }
  const advanced = await inUnitOfWork(em(), tenant, (unit) => advance(unit, recordId, instant))
  if (advanced === null || advanced.next === null) return { next: null, base, visibility: null }
  const next = wakingTime(advanced.next, { time: executionTimeOf(input), instant })
  const { details, timer, status, customerId } = advanced.waiting
  const nextDeadline = new Date(advanced.next).toISOString()
  return {
    next,
    base,
    visibility: {
      details,
      timer: `${timer} at ${nextDeadline}`,
      attributes: searchAttributesOf({ organizationId, customerId, status, nextDeadline }),
    },
  }
}
