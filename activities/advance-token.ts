import { erasePaymentToken } from '../commands/payments/erase-payment-token.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import { type AdvanceInput, type AdvanceResult, searchAttributesOf } from '../workflows/contract.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { instantOf } from './instant.ts'

/** Erases the card data of an expired payment token. Idempotent. */
export async function advanceToken(
  dependencies: ActivityDependencies,
  input: AdvanceInput,
): Promise<AdvanceResult> {
  const { em, baseUrl, now, visibility } = dependencies
  const { organizationId, recordId } = input
  const instant = instantOf(dependencies, input)
  const tenant = { organizationId, baseUrl, now: new Date(now()) }
  const next = await inUnitOfWork(em(), tenant, (unit) => erasePaymentToken(unit, recordId, instant))
  const time = next === null ? null : new Date(next).toISOString()
  return {
    next,
    base: input.base ?? 0,
    visibility:
      visibility && time !== null
        ? {
            details: `Payment token **${recordId}** holds card data until it is used or expires.`,
            timer: `erased at ${time}`,
            attributes: searchAttributesOf({ organizationId, status: 'unused', nextDeadline: time }),
          }
        : null,
  }
}
