import { defineEntity, p } from '@mikro-orm/core'
import type { CouponDiscount, CouponRestriction, CouponStatus } from '../../billing/coupons.ts'
import {
  EMPTY_ARRAY,
  id,
  instant,
  json,
  listIndexes,
  quarantineColumns,
  quarantineIndex,
  resourceColumns,
  searchExpression,
  tenantKey,
} from './columns.ts'

export const couponSearch = searchExpression('description')
export const couponRedemptionSearch = searchExpression('coupon_id', 'customer_id')

const CouponSchema = defineEntity({
  name: 'Coupon',
  tableName: 'coupons',
  indexes: [
    ...listIndexes('coupons', couponSearch),
    quarantineIndex('coupons'),
    {
      name: 'coupons_issue_index',
      expression: `create index "coupons_issue_index" on "coupons" ("issued_time") where "status" = 'draft'`,
    },
    {
      name: 'coupons_expiry_index',
      expression: `create index "coupons_expiry_index" on "coupons" ("expired_time") where "status" = 'issued' and "expired_time" is not null`,
    },
  ],
  properties: {
    ...tenantKey,
    /** Its amounts are decimal strings. */
    discount: json<CouponDiscount>(),
    restrictions: json<CouponRestriction[]>().defaultRaw(EMPTY_ARRAY),
    description: p.text(),
    /** What it was at its last change; a coupon that becomes due is changed by its workflow. */
    status: p.string().length(20).$type<CouponStatus>(),
    issuedTime: instant(),
    expiredTime: instant().nullable(),
    /** Redemptions so far, canceled ones included; counted under the row's lock. */
    redemptionsCount: p.integer().default(0),
    ...quarantineColumns,
    ...resourceColumns,
  },
})

/** A discount that customers can redeem. */
export class Coupon extends CouponSchema.class {}
CouponSchema.setClass(Coupon)

const CouponRedemptionSchema = defineEntity({
  name: 'CouponRedemption',
  tableName: 'coupon_redemptions',
  indexes: [
    ...listIndexes('coupon_redemptions', couponRedemptionSearch),
    { name: 'coupon_redemptions_customer_index', properties: ['organizationId', 'customerId'] },
    { name: 'coupon_redemptions_subscription_index', properties: ['organizationId', 'subscriptionId'] },
    {
      name: 'coupon_redemptions_coupon_index',
      properties: ['organizationId', 'couponId', 'customerId'],
    },
  ],
  properties: {
    ...tenantKey,
    couponId: id(),
    customerId: id(),
    /** The order whose `couponIds` name the coupon; null: it is for all orders of the customer. */
    subscriptionId: id().nullable(),
    additionalRestrictions: json<CouponRestriction[]>().defaultRaw(EMPTY_ARRAY),
    canceledTime: instant().nullable(),
    ...resourceColumns,
  },
})

/** A coupon that a customer has redeemed, for one order or for all of them. */
export class CouponRedemption extends CouponRedemptionSchema.class {}
CouponRedemptionSchema.setClass(CouponRedemption)
