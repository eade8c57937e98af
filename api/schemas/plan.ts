import Type, { type Static } from 'typebox'
import { NullableInterval, NullableTimeShift, PeriodSchema } from './billing-terms.ts'
import {
  CustomFields,
  Id,
  Nullable,
  OmittedWhenUnknown,
  OrNull,
  ReadOnly,
  resourceMembers,
  Text,
} from './conventions.ts'
import { notSupportedYet } from './not-supported.ts'
import { variants, variantsBy } from './variants.ts'

const quantity = (description: string) =>
  OmittedWhenUnknown(Type.Optional(OrNull(Type.Integer({ minimum: 1, maximum: 1_000_000_000, description }))))
const price = (description: string) => Type.Number({ minimum: 0, exclusiveMaximum: 1e12, description })

export const Plan = Type.Object(
  {
    ...resourceMembers,
    name: Text('Display name.', { minLength: 1 }),
    description: Nullable(Type.String({ maxLength: 1000, description: 'Description of the plan.' })),
    richDescription: Nullable(
      Type.String({ maxLength: 1000, description: 'Description of the plan with markup.' }),
    ),
    productId: Nullable(Id('Product that the plan sells.')),
    currency: Type.String({ format: 'currency', description: 'ISO 4217 code.' }),
    currencySign: ReadOnly(Type.String({ description: 'Sign of the currency, or its code if it has none.' })),
    pricing: Type.Optional(
      Type.Object(
        {
          formula: Type.Enum(['fixed-fee', 'flat-rate', 'tiered', 'volume', 'stairstep'], {
            description:
              'How the amount is calculated. fixed-fee: the price, whatever the quantity. flat-rate: price times quantity. tiered: each unit at the price of its bracket. volume: all units at the price of the bracket of the quantity. stairstep: the price of that bracket, once.',
          }),
          price: OmittedWhenUnknown(Type.Optional(price('Price for the formulas fixed-fee and flat-rate.'))),
          brackets: OmittedWhenUnknown(
            Type.Optional(
              Type.Array(
                Type.Object(
                  {
                    price: price('Price of a unit; with stairstep, price of the bracket.'),
                    maxQuantity: Nullable(
                      Type.Integer({
                        minimum: 1,
                        maximum: 1_000_000_000,
                        description: 'Largest quantity of the bracket; null in the last bracket.',
                      }),
                    ),
                  },
                  { additionalProperties: false, description: 'A price bracket.' },
                ),
                {
                  minItems: 1,
                  maxItems: 100,
                  description:
                    'Price brackets in ascending order for the formulas tiered, volume and stairstep.',
                },
              ),
            ),
          ),
          minQuantity: quantity(
            'Smallest quantity that can be ordered. If null, one. For all formulas but fixed-fee.',
          ),
          maxQuantity: quantity(
            'Largest quantity that can be ordered. If null, there is none. For the formula flat-rate.',
          ),
        },
        {
          ...variantsBy('formula', {
            'fixed-fee': { has: ['price'] },
            'flat-rate': { has: ['price'], may: ['minQuantity', 'maxQuantity'] },
            tiered: { has: ['brackets'], may: ['minQuantity'] },
            volume: { has: ['brackets'], may: ['minQuantity'] },
            stairstep: { has: ['brackets'], may: ['minQuantity'] },
          }),
          title: 'Pricing',
          additionalProperties: false,
          description:
            'How the amount is calculated from the quantity. Required unless the plan ends with its trial.',
        },
      ),
    ),
    recurringInterval: NullableInterval,
    trial: Type.Optional(
      OrNull(
        Type.Object(
          { price: price('Price per item, whatever the quantity.'), period: PeriodSchema },
          { additionalProperties: false, description: 'Trial before the first period.' },
        ),
      ),
    ),
    isTrialOnly: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether the plan ends with its trial. The other plans of an order go on.',
      }),
    ),
    setup: Nullable(
      Type.Object(
        { price: price('Price per item, on the initial invoice.') },
        { additionalProperties: false, description: 'One-time setup fee.' },
      ),
    ),
    invoiceTimeShift: NullableTimeShift,
    isActive: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether new orders can use the plan.' }),
    ),
    customFields: CustomFields,
    ...notSupportedYet({ productOptions: null, meteredBilling: null }),
  },
  {
    $id: 'Plan',
    ...variants({
      OneTimeSalePlan: { has: ['pricing'] },
      SubscriptionPlan: { has: ['pricing', 'recurringInterval'], may: ['trial'] },
      TrialOnlyPlan: { has: ['trial'], may: ['pricing'] },
    }),
    additionalProperties: false,
    if: { type: 'object', properties: { trial: { type: 'object' } }, required: ['trial'] },
    else: { required: ['pricing'] },
    description:
      'The price and schedule of a product. A plan without recurringInterval and trial is a one-time sale; a plan with only a trial ends with it.',
  },
)
export type Plan = Static<typeof Plan>
