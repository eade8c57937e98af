import { lockDispute, settleDispute as settle } from '../db/commands/save-dispute.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import type { SettleInput, SettleResult } from '../workflows/contract.ts'
import type { ActivityDependencies } from './dependencies.ts'

/** Loses a dispute that nobody answered by its deadline, and says when to look again. Repeating it does no harm. */
export async function settleDispute(
  { em, baseUrl, now, labels }: ActivityDependencies,
  { organizationId, recordId, clock, base }: SettleInput,
): Promise<SettleResult> {
  const ahead = base ?? 0
  return await inUnitOfWork(em(), { organizationId, baseUrl, now: new Date(now()) }, async (unit) => {
    const dispute = await lockDispute(unit, recordId)
    if (dispute === null) return { next: null, base: ahead, labels: null }
    const next = await settle(unit, dispute, clock + ahead)
    const time = next === null ? null : new Date(next).toISOString()
    return {
      next,
      base: ahead,
      labels:
        labels && time !== null
          ? {
              details: `Dispute **${dispute.id}** of transaction ${dispute.transactionId} is **${dispute.status}**; unanswered, it is lost.`,
              timer: `lost at ${time}`,
              attributes: {
                BillingOrganization: organizationId,
                BillingCustomer: dispute.customerId ?? null,
                BillingWebhook: null,
                BillingStatus: dispute.status,
                BillingNextDeadline: time,
              },
            }
          : null,
    }
  })
}
