import { pendingMovement, recordAnswer } from '../db/commands/record-answer.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import { inquire } from '../gateways/movement.ts'
import type { SettleInput, SettleResult } from '../workflows/contract.ts'
import type { ActivityDependencies } from './dependencies.ts'

/**
 * Asks the gateway what became of a transaction whose outcome is not known, when that is due at the workflow's instant.
 * Repeating it does no harm: the request id stays the same, and only a pending transaction takes an answer.
 */
export async function inquireTransaction(
  { em, baseUrl, now, labels, gateway }: ActivityDependencies,
  { organizationId, recordId, clock, base }: SettleInput,
): Promise<SettleResult> {
  const ahead = base ?? 0
  const instant = clock + ahead
  const pending = await pendingMovement(em(), organizationId, recordId)
  if (pending === null) return { next: null, base: ahead, labels: null }
  const { transaction, movement } = pending
  let next = transaction.nextInquiryTime?.getTime() ?? null
  if (next !== null && next <= instant) {
    const answer = await inquire(gateway, movement)
    const tenant = { organizationId, baseUrl, now: new Date(now()) }
    next = await inUnitOfWork(em(), tenant, (unit) => recordAnswer(unit, recordId, answer, instant))
  }
  const time = next === null ? null : new Date(next).toISOString()
  return {
    next,
    base: ahead,
    labels:
      labels && time !== null
        ? {
            details: `The gateway has not told the outcome of transaction **${recordId}**.`,
            timer: `asked again at ${time}`,
            attributes: {
              BillingOrganization: organizationId,
              BillingCustomer: transaction.customerId,
              BillingWebhook: null,
              BillingStatus: 'unknown',
              BillingNextDeadline: time,
            },
          }
        : null,
  }
}
