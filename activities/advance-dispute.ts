import { advanceDispute as advance, lockDispute } from '../commands/disputes/save-dispute.ts'
import type { AdvanceInput, AdvanceResult } from '../workflows/contract.ts'
import { advanceRecord } from './advance-record.ts'
import type { ActivityDependencies } from './dependencies.ts'

/** Marks a dispute as lost if its deadline passed without a response. Idempotent. */
export async function advanceDispute(
  dependencies: ActivityDependencies,
  input: AdvanceInput,
): Promise<AdvanceResult> {
  return await advanceRecord(dependencies, input, async (unit, recordId, instant) => {
    const dispute = await lockDispute(unit, recordId)
    if (dispute === null) return null
    const next = await advance(unit, dispute, instant)
    const { id, transactionId, status, customerId } = dispute
    return {
      next,
      waiting: {
        details: `Dispute **${id}** of transaction ${transactionId} is **${status}**; unanswered, it is lost.`,
        timer: 'lost',
        status,
        customerId,
      },
    }
  })
}
