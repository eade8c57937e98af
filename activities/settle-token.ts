import { settlePaymentToken } from '../db/commands/settle-payment-token.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import type { SettleInput, SettleResult } from '../workflows/contract.ts'
import type { ActivityDependencies } from './dependencies.ts'

/** Erases the card data of a payment token at its deadline. Repeating it does no harm. */
export async function settleToken(
  { em, baseUrl, now, labels }: ActivityDependencies,
  { organizationId, recordId, clock, base }: SettleInput,
): Promise<SettleResult> {
  const ahead = base ?? 0
  const tenant = { organizationId, baseUrl, now: new Date(now()) }
  const next = await inUnitOfWork(em(), tenant, (unit) => settlePaymentToken(unit, recordId, clock + ahead))
  const time = next === null ? null : new Date(next).toISOString()
  return {
    next,
    base: ahead,
    labels:
      labels && time !== null
        ? {
            details: `Payment token **${recordId}** holds card data until it is used or expires.`,
            timer: `erased at ${time}`,
            attributes: {
              BillingOrganization: organizationId,
              BillingCustomer: null,
              BillingWebhook: null,
              BillingStatus: 'unused',
              BillingNextDeadline: time,
            },
          }
        : null,
  }
}
