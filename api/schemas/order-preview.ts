import Type, { type Static } from 'typebox'
import { Contact } from './contact.ts'
import {
  Amount,
  Id,
  Inside,
  Nullable,
  OmittedWhenUnknown,
  OrNull,
  ReadOnly,
  WriteOnly,
} from './conventions.ts'
import { readOnlyNotSupportedYet } from './not-supported.ts'
import { Subscription, SubscriptionItem } from './subscription.ts'

const amounts = (description: string) =>
  Type.Object(
    {
      amount: Amount('Amount to pay.'),
      subtotalAmount: Amount('Sum of the items without shipping, before discounts.'),
      discountAmount: Amount('Sum of the discounts.'),
      shippingAmount: Amount('Amount of shipping.'),
      taxAmount: Amount('Sum of the taxes.'),
    },
    { description },
  )

const maybeId = (description: string) => OmittedWhenUnknown(Type.Optional(Id(description)))

export const OrderPreview = Type.Object(
  {
    websiteId: Id('Website on which the order would be placed.'),
    items: Type.Array(Inside(SubscriptionItem), {
      minItems: 1,
      maxItems: 100,
      description: 'Items of the order.',
    }),
    billingAddress: Nullable(Contact),
    deliveryAddress: Nullable(Contact),
    shipping: Subscription.properties.shipping,
    currency: ReadOnly(Type.String({ description: 'ISO 4217 currency code of the plans.' })),
    lineItems: ReadOnly(
      Type.Array(
        Type.Object(
          {
            type: Type.Enum(['debit', 'credit'], { description: 'Whether it raises or reduces the amount.' }),
            description: Type.String({ description: 'What is invoiced.' }),
            unitPrice: Amount('Price of a unit.'),
            quantity: Type.Integer({ description: 'Number of units.' }),
            price: Amount('Quantity times unit price.'),
            planId: maybeId('Plan that is invoiced.'),
            productId: maybeId('Product that is invoiced.'),
          },
          { description: 'An item of the initial invoice.' },
        ),
        { description: 'Items of the initial invoice, without shipping.' },
      ),
    ),
    subtotalAmount: ReadOnly(Amount('Sum of the line items.')),
    shippingAmount: ReadOnly(Amount('Amount of shipping on the initial invoice.')),
    total: ReadOnly(Amount('Amount of the initial invoice.')),
    initialAmounts: ReadOnly(amounts('Amounts of the initial invoice.')),
    recurringAmounts: ReadOnly(
      OrNull(amounts('Amounts of each renewal invoice. Null for an order that does not renew.')),
    ),
    couponIds: WriteOnly(
      Type.Array(Id('Id of a coupon.'), {
        maxItems: 50,
        description: 'Coupons that would be redeemed for the order, in the order of application.',
      }),
    ),
    discounts: ReadOnly(
      Type.Array(
        Type.Object({
          couponId: Id('Coupon of the discount.'),
          amount: Amount('What the coupon takes off.'),
          description: Type.String({ description: 'Description of the coupon.' }),
        }),
        { description: 'Discounts on the initial invoice.' },
      ),
    ),
    discountsAmount: ReadOnly(Amount('Sum of the discounts on the initial invoice.')),
    taxes: ReadOnly(
      Type.Array(
        Type.Object({
          amount: Amount('Amount of the tax.'),
          description: Type.String({ description: 'Name and rate of the tax.' }),
        }),
        { description: 'Taxes on the initial invoice, by rate.' },
      ),
    ),
    taxAmount: ReadOnly(Amount('Sum of the taxes on the initial invoice.')),
    ...readOnlyNotSupportedYet({ shippingRates: [] }),
  },
  {
    $id: 'OrderPreview',
    additionalProperties: false,
    description: 'What an order would cost. It is not placed, and nothing is saved.',
  },
)
export type OrderPreview = Static<typeof OrderPreview>
