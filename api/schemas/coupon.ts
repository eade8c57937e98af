import Type, { type Static } from 'typebox'
import { COUPON_STATUSES } from '../../billing/coupons.ts'
import {
  Amount,
  Id,
  Instant,
  Nullable,
  OmittedWhenUnknown,
  OrNull,
  PartlySupported,
  ReadOnly,
  resourceMembers,
  Text,
} from './conventions.ts'

const ids = (description: string) =>
  OmittedWhenUnknown(Type.Optional(Type.Array(Id('Id.'), { minItems: 1, maxItems: 1000, description })))

const currency = OmittedWhenUnknown(
  Type.Optional(Type.String({ format: 'currency', description: 'ISO 4217 code of the amount.' })),
)

const unitsOfPlans = (description: string) =>
  OmittedWhenUnknown(
    Type.Optional(
      Type.Array(
        Type.Object(
          {
            planId: Id('Plan.'),
            quantity: Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: 'Number of units.' }),
          },
          { additionalProperties: false },
        ),
        { minItems: 1, maxItems: 100, description },
      ),
    ),
  )

const CouponDiscount = Type.Object(
  {
    type: Type.Enum(['percent', 'fixed'], {
      description: 'Whether a share or an amount is taken off. Percentages are applied before amounts.',
    }),
    value: OmittedWhenUnknown(
      Type.Optional(
        Type.Number({
          exclusiveMinimum: 0,
          maximum: 100,
          description: 'Share in percent, with at most four decimals. For the type percent.',
        }),
      ),
    ),
    amount: OmittedWhenUnknown(
      Type.Optional(
        Amount('Amount, at most the sum of the items. For the type fixed.', { exclusiveMinimum: 0 }),
      ),
    ),
    currency,
    context: Type.Optional(
      PartlySupported(
        ['items'],
        Type.Enum(['items', 'shipping', 'items-and-shipping'], {
          default: 'items',
          description: 'What is discounted: items is every item but shipping. Only items is supported yet.',
        }),
      ),
    ),
  },
  { additionalProperties: false, description: 'What the coupon takes off each invoice.' },
)

const TYPES = [
  'total-redemptions',
  'redemptions-per-customer',
  'discounts-per-redemption',
  'minimum-order-amount',
  'maximum-order-amount',
  'restrict-to-plans',
  'restrict-to-products',
  'restrict-to-subscriptions',
  'restrict-to-customers',
  'restrict-to-customer-tags',
  'restrict-to-countries',
  'restrict-to-exclusive-application',
  'restrict-to-invoices',
  'restrict-to-bxgy',
  'paid-by-time',
] as const

/** Restrictions that the interface knows and this release does not build. */
export const UNSUPPORTED_RESTRICTIONS: readonly string[] = [
  'restrict-to-invoices',
  'restrict-to-bxgy',
  'paid-by-time',
]

const CouponRestriction = Type.Object(
  {
    type: Type.Enum([...TYPES], {
      description: 'What is restricted.',
    }),
    quantity: OmittedWhenUnknown(
      Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1_000_000_000,
          description: 'Largest number of redemptions, or of discounted invoices for each redemption.',
        }),
      ),
    ),
    amount: OmittedWhenUnknown(
      Type.Optional(Amount('Smallest or largest sum of an invoice without shipping.', { minimum: 0 })),
    ),
    currency,
    planIds: ids('Plans whose items are discounted.'),
    productIds: ids('Products whose items are discounted.'),
    minimumQuantity: OmittedWhenUnknown(
      Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1_000_000_000,
          description: 'Units of these plans or products that an order must have. If omitted, one.',
        }),
      ),
    ),
    subscriptionIds: ids('Orders whose invoices are discounted.'),
    customerIds: ids('Customers who can redeem the coupon.'),
    countries: OmittedWhenUnknown(
      Type.Optional(
        Type.Array(Type.String({ pattern: '^[A-Z]{2}$' }), {
          minItems: 1,
          maxItems: 300,
          description: 'Two-letter codes of the countries of billing addresses.',
        }),
      ),
    ),
    tags: OmittedWhenUnknown(
      Type.Optional(
        Type.Array(Text('Name of a tag.', { minLength: 1 }), {
          minItems: 1,
          maxItems: 100,
          description: 'Tags of the customers who can redeem the coupon.',
        }),
      ),
    ),
    requireAllTags: OmittedWhenUnknown(
      Type.Optional(
        Type.Boolean({ description: 'Whether a customer needs all of the tags. If omitted, one.' }),
      ),
    ),
    time: OmittedWhenUnknown(
      Type.Optional(
        Instant(
          'When an invoice has to be paid to keep the discount. An invoice made from then on has none.',
        ),
      ),
    ),
    invoiceIds: ids('Invoices, not issued yet, that are discounted.'),
    buy: unitsOfPlans('What an order must have.'),
    get: unitsOfPlans('What is discounted then, beside what must be bought, once for each invoice.'),
  },
  { additionalProperties: false },
)

const restrictions = (description: string) =>
  Type.Optional(Type.Array(CouponRestriction, { maxItems: 20, default: [], description }))

export const Coupon = Type.Object(
  {
    ...resourceMembers,
    discount: CouponDiscount,
    restrictions: restrictions('Who can redeem the coupon and what it discounts. At most one of each type.'),
    description: Type.Optional(
      Type.String({ maxLength: 1000, default: '', description: 'Description, shown on invoices.' }),
    ),
    redemptionsCount: ReadOnly(
      Type.Integer({ minimum: 0, description: 'Number of redemptions, canceled ones included.' }),
    ),
    status: ReadOnly(
      Type.Enum([...COUPON_STATUSES], {
        description: 'Whether the coupon is not issued yet, can be redeemed, or has expired.',
      }),
    ),
    issuedTime: Type.Optional(
      OrNull(Instant('When the coupon can be redeemed. If null or omitted, at once.')),
    ),
    expiredTime: Nullable(
      Instant(
        'When the coupon expires: it discounts no invoice made from then on. If null, it does not expire.',
      ),
    ),
  },
  {
    $id: 'Coupon',
    additionalProperties: false,
    description:
      'A discount that customers can redeem. It applies to every invoice while it is redeemed and has not expired.',
  },
)
export type Coupon = Static<typeof Coupon>

export const CouponExpiration = Type.Object(
  { expiredTime: Instant('When the coupon expires.') },
  { $id: 'CouponExpiration', additionalProperties: false, description: 'When a coupon expires.' },
)
export type CouponExpiration = Static<typeof CouponExpiration>

export const CouponRedemption = Type.Object(
  {
    ...resourceMembers,
    couponId: Id('Coupon that is redeemed.'),
    customerId: Id('Customer who redeems it.'),
    additionalRestrictions: restrictions(
      'Restrictions of this redemption, beside those of the coupon. One that is restricted to a single order is one of the coupons of that order; another is for all orders of the customer.',
    ),
    canceledTime: ReadOnly(OrNull(Instant('When the redemption was canceled. If null, it is in force.'))),
  },
  {
    $id: 'CouponRedemption',
    additionalProperties: false,
    description: 'A coupon that a customer has redeemed.',
  },
)
export type CouponRedemption = Static<typeof CouponRedemption>
