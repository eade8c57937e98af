import Type, { type Static } from 'typebox'
import { NullableInterval, NullableTimeShift, PeriodSchema } from './billing-terms.ts'
import { Id, Nullable, OmittedWhenUnknown, OrNull, resourceMembers, Text } from './conventions.ts'

const price = (description: string) => Type.Number({ minimum: 0, exclusiveMaximum: 1e12, description })

export const Plan = Type.Object(
  {
    ...resourceMembers,
    name: Text('Display name.', { minLength: 1 }),
    productId: Nullable(Id('Product that the plan sells.')),
    currency: Type.String({ format: 'currency', description: 'ISO 4217 code.' }),
    pricing: Type.Object(
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
                  maxQuantity: OrNull(
                    Type.Integer({
                      minimum: 1,
                      maximum: 1_000_000_000,
                      description: 'Largest quantity of the bracket; null in the last bracket.',
                    }),
                  ),
                },
                { additionalProperties: false },
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
      },
      { additionalProperties: false, description: 'How the amount is calculated from the quantity.' },
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
      Type.Boolean({ default: false, description: 'Whether the order ends with the trial.' }),
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
  },
  {
    $id: 'Plan',
    additionalProperties: false,
    description:
      'The price and schedule of a product. A plan without recurringInterval and trial is a one-time sale; a plan with only a trial ends with it.',
  },
)
export type Plan = Static<typeof Plan>
