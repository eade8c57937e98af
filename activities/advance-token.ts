import { erasePaymentToken } from '../commands/payments/erase-payment-token.ts'
import type { AdvanceInput, AdvanceResult } from '../workflows/contract.ts'
import { advanceRecord } from './advance-record.ts'
import type { ActivityDependencies } from './dependencies.ts'

/** Erases the card data of an expired payment token. Idempotent. */
export async function advanceToken(
  dependencies: ActivityDependencies,
  input: AdvanceInput,
): Promise<AdvanceResult> {
  return await advanceRecord(dependencies, input, async (unit, recordId, instant) => ({
    next: await erasePaymentToken(unit, recordId, instant),
    waiting: {
      details: `Payment token **${recordId}** holds card data until it is used or expires.`,
      timer: 'erased',
      status: 'unused',
    },
  }))
}
