/** Redemptions of coupons and their cancellation, under the locks of the coupons. */
import { LockMode } from '@mikro-orm/core'
import type { CouponRestriction } from '../../billing/coupons.ts'
import { Coupon, CouponRedemption } from '../../db/entities/index.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { couponEvent } from '../../events/coupon-events.ts'
import { couponEntry } from '../../events/timeline.ts'

/** Whose redemption it is; for an order, with the order's website. */
export interface RedeemedFor {
  readonly customerId: string
  readonly order: { readonly id: string; readonly websiteId: string } | null
}

/**
 * Returns the coupons with these ids, locked until the transaction ends, by id. While they are locked nobody else redeems
 * them: limits on redemptions that are checked then hold.
 */
export async function lockCoupons(
  { em, organizationId }: Pick<UnitOfWork, 'em' | 'organizationId'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Coupon>> {
  const found = await em.find(
    Coupon,
    { organizationId, id: { $in: [...ids] } },
    // All lock in this order, so that none waits for another that waits for it.
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true, orderBy: { id: 'asc' } },
  )
  return new Map(found.map((coupon) => [coupon.id, coupon]))
}

/** Returns how often a customer has redeemed locked coupons, canceled redemptions included, by coupon. */
export async function countRedemptions(
  { em, organizationId }: Pick<UnitOfWork, 'em' | 'organizationId'>,
  couponIds: readonly string[],
  customerId: string,
): Promise<ReadonlyMap<string, number>> {
  const counted = await statement<{ id: string; count: number }>(
    em,
    'count-redemptions-of-customer',
    `select coupon_id as id, count(*)::int as count from coupon_redemptions
      where organization_id = ? and coupon_id in (select jsonb_array_elements_text(?::jsonb)) and customer_id = ?
      group by coupon_id`,
    [organizationId, JSON.stringify(couponIds), customerId],
  )
  return new Map(counted.map(({ id, count }) => [id, count]))
}

/** Redeems a locked coupon whose rules permit it. Emits `coupon-redeemed`. */
export function redeem(
  unit: UnitOfWork,
  id: string,
  coupon: Coupon,
  { customerId, order }: RedeemedFor,
  additionalRestrictions: CouponRestriction[],
): CouponRedemption {
  const redemption = unit.create(CouponRedemption, {
    id,
    couponId: coupon.id,
    customerId,
    subscriptionId: order?.id ?? null,
    additionalRestrictions,
    canceledTime: null,
  })
  coupon.redemptionsCount += 1
  coupon.revision += 1
  coupon.updatedTime = unit.now
  const about = { redemptionId: id, customerId, websiteId: order?.websiteId ?? null }
  unit.emit(couponEvent(coupon, 'coupon-redeemed', unit, about))
  unit.addTimelineEntry(couponEntry('coupon-redeemed', redemption, unit.now))
  return redemption
}

/**
 * Cancels live redemptions: they discount no invoice made from now on. Emits `coupon-redemption-canceled` for each. A
 * coupon's count of redemptions stays.
 */
export async function cancelRedemptions(
  unit: UnitOfWork,
  redemptions: readonly CouponRedemption[],
  websiteId: string | null,
): Promise<void> {
  const { em, organizationId, now } = unit
  if (redemptions.length === 0) return
  const ids = [...new Set(redemptions.map(({ couponId }) => couponId))]
  const coupons = await em.find(Coupon, { organizationId, id: { $in: ids } })
  for (const redemption of redemptions) {
    redemption.canceledTime = now
    redemption.revision += 1
    redemption.updatedTime = now
    const { id: redemptionId, customerId } = redemption
    const coupon = coupons.find(({ id }) => id === redemption.couponId)
    if (coupon === undefined) continue
    unit.emit(
      couponEvent(coupon, 'coupon-redemption-canceled', unit, { redemptionId, customerId, websiteId }),
    )
    unit.addTimelineEntry(couponEntry('coupon-redemption-canceled', redemption, now))
  }
}
