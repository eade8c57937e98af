import type { Call } from '../call.ts'
import { daysAhead } from '../sampler.ts'
import { CATALOGUE, CUSTOMER, ORDER } from './setup.ts'

const ISSUED = { issuedTime: '2026-01-15T00:00:00Z', expiredTime: daysAhead(30) }

const restricted = (restriction: NonNullable<Call['with']>): Call => ({
  operation: 'POST coupons',
  body: 'required',
  case: `with the restriction ${restriction.type}`,
  with: { discount: { type: 'percent', value: 10 }, restrictions: [restriction] },
})

export const COUPONS: readonly Call[] = [
  ...CATALOGUE,
  ...CUSTOMER,
  ...ORDER,
  { operation: 'POST coupons', body: 'full', case: 'with every member', with: ISSUED, as: 'fixed' },
  { operation: 'POST coupons', body: 'nulls', case: 'with nulls', with: ISSUED, as: 'coupon' },
  restricted({ type: 'total-redemptions', quantity: 10 }),
  restricted({ type: 'redemptions-per-customer', quantity: 1 }),
  restricted({ type: 'discounts-per-redemption', quantity: 3 }),
  restricted({ type: 'minimum-order-amount', amount: 10, currency: 'EUR' }),
  restricted({ type: 'maximum-order-amount', amount: 100, currency: 'EUR' }),
  restricted({ type: 'restrict-to-plans', planIds: ['{plan}'], minimumQuantity: 2 }),
  restricted({ type: 'restrict-to-products', productIds: ['{product}'] }),
  restricted({ type: 'restrict-to-subscriptions', subscriptionIds: ['{order}'] }),
  restricted({ type: 'restrict-to-customers', customerIds: ['{customer}'] }),
  restricted({ type: 'restrict-to-customer-tags', tags: ['VIP'], requireAllTags: true }),
  restricted({ type: 'restrict-to-countries', countries: ['DE'] }),
  restricted({ type: 'restrict-to-exclusive-application' }),
  restricted({ type: 'restrict-to-invoices', invoiceIds: ['in_1'] }),
  restricted({ type: 'paid-by-time', time: daysAhead(1) }),
  restricted({
    type: 'restrict-to-bxgy',
    buy: [{ planId: '{plan}', quantity: 1 }],
    get: [{ planId: '{plan}', quantity: 1 }],
  }),
  { operation: 'GET coupons' },
  { operation: 'GET coupons/{id}', of: ['fixed'], as: 'fixed' },
  { operation: 'PUT coupons/{id}', body: { held: 'fixed' }, case: 'with what was read', of: ['fixed'] },
  {
    operation: 'PUT coupons/{id}',
    body: 'full',
    case: 'with every member, of a new id',
    with: ISSUED,
    of: ['=SUMMER'],
    status: 201,
  },
  {
    operation: 'POST coupons-redemptions',
    body: 'full',
    case: 'with every member',
    with: { additionalRestrictions: [{ type: 'maximum-order-amount', amount: 100, currency: 'EUR' }] },
    as: 'redemption',
  },
  {
    operation: 'POST coupons-redemptions',
    body: 'given',
    case: 'for one order',
    with: {
      couponId: '{fixed}',
      customerId: '{customer}',
      additionalRestrictions: [{ type: 'restrict-to-subscriptions', subscriptionIds: ['{order}'] }],
    },
  },
  { operation: 'GET coupons-redemptions' },
  { operation: 'GET coupons-redemptions/{id}', of: ['redemption'] },
  { operation: 'POST coupons-redemptions/{id}/cancel', ownShape: true, of: ['redemption'] },
  {
    operation: 'POST coupons/{id}/expiration',
    sends: 'CouponExpiration',
    body: 'full',
    with: { expiredTime: daysAhead(10) },
    of: ['coupon'],
  },
]
