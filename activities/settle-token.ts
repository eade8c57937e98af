import { eraseAt } from '../billing/payment-tokens.ts'
import { settlePaymentToken } from '../db/commands/settle-payment-token.ts'
import { statement } from '../db/statement.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import type { SettleInput, SettleResult } from '../workflows/contract.ts'
import type { ActivityDependencies } from './dependencies.ts'

/** Erases the card data of a payment token at its deadline. Repeating it does no harm. */
export async function settleToken(
  dependencies: ActivityDependencies,
  input: SettleInput,
): Promise<SettleResult> {
  const seen = await lookAtToken(dependencies, input)
  if (seen !== null) return seen
  const { em, baseUrl, now } = dependencies
  const { organizationId, recordId, clock, base } = input
  const ahead = base ?? 0
  const tenant = { organizationId, baseUrl, now: new Date(now()) }
  const next = await inUnitOfWork(em(), tenant, (unit) => settlePaymentToken(unit, recordId, clock + ahead))
  return answer(dependencies, input, next)
}

/** As `settleToken` where nothing is due, by reading alone; null where something is. */
export async function lookAtToken(
  dependencies: Pick<ActivityDependencies, 'em' | 'labels'>,
  input: SettleInput,
): Promise<SettleResult | null> {
  const [token] = await statement<{ holdsCard: boolean; expirationTime: string }>(
    dependencies.em(),
    'read-token-expiry',
    `select card_cipher is not null as "holdsCard", expiration_time as "expirationTime"
       from payment_tokens where organization_id = ? and id = ?`,
    [input.organizationId, input.recordId],
  )
  if (token === undefined) return answer(dependencies, input, null)
  const { holdsCard, expirationTime } = token
  const due = eraseAt({ holdsCard, expirationTime: new Date(expirationTime).getTime() })
  if (due !== null && due <= input.clock + (input.base ?? 0)) return null
  return answer(dependencies, input, due)
}

function answer(
  { labels }: Pick<ActivityDependencies, 'labels'>,
  { organizationId, recordId, base }: SettleInput,
  next: number | null,
): SettleResult {
  const time = next === null ? null : new Date(next).toISOString()
  return {
    next,
    base: base ?? 0,
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
