import type { CouponDiscount, CouponRestriction } from '../billing/coupons.ts'
import { jsonAmount } from '../billing/money.ts'
import type { Coupon, CouponRedemption } from '../db/entities/index.ts'
import { resourceUrl } from './links.ts'

export function presentCoupon(coupon: Coupon, baseUrl: string) {
  return {
    id: coupon.id,
    description: coupon.description,
    discount: presentDiscount(coupon.discount),
    restrictions: coupon.restrictions.map(presentRestriction),
    redemptionsCount: coupon.redemptionsCount,
    status: coupon.status,
    issuedTime: coupon.issuedTime.toISOString(),
    expiredTime: coupon.expiredTime?.toISOString() ?? null,
    revision: coupon.revision,
    createdTime: coupon.createdTime.toISOString(),
    updatedTime: coupon.updatedTime.toISOString(),
    _links: [{ rel: 'self', href: resourceUrl(baseUrl, coupon.organizationId, 'coupons', coupon.id) }],
  }
}

export function presentCouponRedemption(redemption: CouponRedemption, baseUrl: string) {
  const { id, couponId, customerId } = redemption
  const url = (...segments: string[]) => resourceUrl(baseUrl, redemption.organizationId, ...segments)
  return {
    id,
    couponId,
    customerId,
    additionalRestrictions: redemption.additionalRestrictions.map(presentRestriction),
    canceledTime: redemption.canceledTime?.toISOString() ?? null,
    revision: redemption.revision,
    createdTime: redemption.createdTime.toISOString(),
    updatedTime: redemption.updatedTime.toISOString(),
    _links: [
      { rel: 'self', href: url('coupons-redemptions', id) },
      { rel: 'coupon', href: url('coupons', couponId) },
      { rel: 'customer', href: url('customers', customerId) },
    ],
  }
}

function presentDiscount(discount: CouponDiscount) {
  return discount.type === 'percent'
    ? { type: discount.type, value: jsonAmount(discount.value), context: 'items' as const }
    : {
        type: discount.type,
        amount: jsonAmount(discount.amount),
        currency: discount.currency,
        context: 'items' as const,
      }
}

function presentRestriction(restriction: CouponRestriction) {
  return 'amount' in restriction ? { ...restriction, amount: jsonAmount(restriction.amount) } : restriction
}
