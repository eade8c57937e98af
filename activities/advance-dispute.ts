import { advanceDispute as advance, lockDispute } from '../commands/disputes/save-dispute.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import { type AdvanceInput, type AdvanceResult, searchAttributesOf } from '../workflows/contract.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { instantOf } from './instant.ts'

/** Marks a dispute as lost if its deadline passed without a response. Idempotent. */
export async function advanceDispute(
  dependencies: ActivityDependencies,
  input: AdvanceInput,
): Promise<AdvanceResult> {
  const { em, baseUrl, now, visibility } = dependencies
  const { organizationId, recordId } = input
  const instant = instantOf(dependencies, input)
  const base = input.base ?? 0
  return await inUnitOfWork(em(), { organizationId, baseUrl, now: new Date(now()) }, async (unit) => {
    const dispute = await lockDispute(unit, recordId)
    if (dispute === null) return { next: null, base, visibility: null }
    const next = await advance(unit, dispute, instant)
    const time = next === null ? null : new Date(next).toISOString()
    return {
      next,
      base,
      visibility:
        visibility && time !== null
          ? {
              details: `Dispute **${dispute.id}** of transaction ${dispute.transactionId} is **${dispute.status}**; unanswered, it is lost.`,
              timer: `lost at ${time}`,
              attributes: searchAttributesOf({
                organizationId,
                customerId: dispute.customerId,
                status: dispute.status,
                nextDeadline: time,
              }),
            }
          : null,
    }
  })
}
