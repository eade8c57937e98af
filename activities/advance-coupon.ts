import { advanceCoupon as advance } from '../commands/coupons/save-coupon.ts'
import { Coupon } from '../db/entities/index.ts'
import { lockRow } from '../db/lock-row.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import { type AdvanceInput, type AdvanceResult, searchAttributesOf } from '../workflows/contract.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { instantOf } from './instant.ts'

/** Issues a coupon and marks it as expired at its times. Idempotent. */
export async function advanceCoupon(
  dependencies: ActivityDependencies,
  input: AdvanceInput,
): Promise<AdvanceResult> {
  const { em, baseUrl, now, visibility } = dependencies
  const { organizationId, recordId } = input
  const instant = instantOf(dependencies, input)
  const base = input.base ?? 0
  return await inUnitOfWork(em(), { organizationId, baseUrl, now: new Date(now()) }, async (unit) => {
    const coupon = await lockRow(unit, Coupon, recordId)
    if (coupon === null) return { next: null, base, visibility: null }
    const next = advance(unit, coupon, instant)
    const time = next === null ? null : new Date(next).toISOString()
    const { status } = coupon
    return {
      next,
      base,
      visibility:
        visibility && time !== null
          ? {
              details: `Coupon **${coupon.id}** is **${status}**.`,
              timer: `${status === 'draft' ? 'issued' : 'expires'} at ${time}`,
              attributes: searchAttributesOf({ organizationId, status, nextDeadline: time }),
            }
          : null,
    }
  })
}
