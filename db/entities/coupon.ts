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
    /** Amounts are decimal strings. */
    discount: json<CouponDiscount>(),
    restrictions: json<CouponRestriction[]>().defaultRaw(EMPTY_ARRAY),
    description: p.text(),
    /** As of the last change; the workflow changes a coupon that becomes due. */
    status: p.string().length(20).$type<CouponStatus>(),
    issuedTime: instant(),
    expiredTime: instant().nullable(),
    /** Canceled ones included; counted under the row's lock. */
    redemptionsCount: p.integer().default(0),
    ...quarantineColumns,
    ...resourceColumns,
  },
})

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
    /** null: for all orders of the customer. */
    subscriptionId: id().nullable(),
    additionalRestrictions: json<CouponRestriction[]>().defaultRaw(EMPTY_ARRAY),
    canceledTime: instant().nullable(),
    ...resourceColumns,
  },
})

export class CouponRedemption extends CouponRedemptionSchema.class {}
CouponRedemptionSchema.setClass(CouponRedemption)
