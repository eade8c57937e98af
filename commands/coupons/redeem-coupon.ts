import { LockMode } from '@mikro-orm/core'
import type { CouponRestriction } from '../../billing/coupons.ts'
import { raiseRevision } from '../../db/change-row.ts'
import { Coupon, CouponRedemption } from '../../db/entities/index.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { couponEvent } from '../../events/coupon-events.ts'
import { couponEntry } from '../../events/timeline.ts'

export interface RedeemedFor {
  readonly customerId: string
  readonly order: { readonly id: string; readonly websiteId: string } | null
}

/** Locks coupons until the transaction ends: limits on redemptions that are checked then hold. */
export async function lockCoupons(
  { em, organizationId }: Pick<UnitOfWork, 'em' | 'organizationId'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Coupon>> {
  const found = await em.find(
    Coupon,
    { organizationId, id: { $in: [...ids] } },
    // One order of locks for all, so that no two transactions wait for each other.
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true, orderBy: { id: 'asc' } },
  )
  return new Map(found.map((coupon) => [coupon.id, coupon]))
}

/** Canceled redemptions count too. */
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
  raiseRevision(coupon, unit)
  const about = { redemptionId: id, customerId, websiteId: order?.websiteId ?? null }
  unit.emit(couponEvent(coupon, 'coupon-redeemed', unit, about))
  unit.addTimelineEntry(couponEntry('coupon-redeemed', redemption, unit.now))
  return redemption
}

/** Emits `coupon-redemption-canceled` for each. A coupon's count of redemptions stays. */
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
    raiseRevision(redemption, unit)
    const { id: redemptionId, customerId } = redemption
    const coupon = coupons.find(({ id }) => id === redemption.couponId)
    if (coupon === undefined) continue
    unit.emit(
      couponEvent(coupon, 'coupon-redemption-canceled', unit, { redemptionId, customerId, websiteId }),
    )
    unit.addTimelineEntry(couponEntry('coupon-redemption-canceled', redemption, now))
  }
}
