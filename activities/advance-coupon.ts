import { advanceCoupon as advance } from '../commands/coupons/save-coupon.ts'
import { Coupon } from '../db/entities/index.ts'
import { lockRow } from '../db/lock-row.ts'
import type { AdvanceInput, AdvanceResult } from '../workflows/contract.ts'
import { advanceRecord } from './advance-record.ts'
import type { ActivityDependencies } from './dependencies.ts'

/** Issues a coupon and marks it as expired at its times. Idempotent. */
export async function advanceCoupon(
  dependencies: ActivityDependencies,
  input: AdvanceInput,
): Promise<AdvanceResult> {
  return await advanceRecord(dependencies, input, async (unit, recordId, instant) => {
    const coupon = await lockRow(unit, Coupon, recordId)
    if (coupon === null) return null
    const next = advance(unit, coupon, instant)
    const { id, status } = coupon
    return {
      next,
      waiting: {
        details: `Coupon **${id}** is **${status}**.`,
        timer: status === 'draft' ? 'issued' : 'expires',
        status,
      },
    }
  })
}
