import Type, { type Static } from 'typebox'
import { NullableInterval, NullableTimeShift, PeriodSchema } from './billing-terms.ts'
import { AbsentWhenUnknown, Id, Nullable, OrNull, resourceMembers, Text } from './conventions.ts'

const price = (description: string) => Type.Number({ minimum: 0, exclusiveMaximum: 1e12, description })

export const Plan = Type.Object(
  {
    ...resourceMembers,
    name: Text('What people call it.', { minLength: 1 }),
    productId: Nullable(Id('The product it gives a price.')),
    currency: Type.String({ format: 'currency', description: 'ISO 4217 code.' }),
    pricing: Type.Object(
      {
        formula: Type.Enum(['fixed-fee', 'flat-rate', 'tiered', 'volume', 'stairstep'], {
          description:
            'fixed-fee: the price whatever the quantity; flat-rate: price times quantity; tiered: each unit at the price of its bracket; volume: all units at the price of the bracket of the quantity; stairstep: the price of that bracket once.',
        }),
        price: AbsentWhenUnknown(Type.Optional(price('Of fixed-fee and flat-rate.'))),
        brackets: AbsentWhenUnknown(
          Type.Optional(
            Type.Array(
              Type.Object(
                {
                  price: price('Of a unit, or of the bracket.'),
                  maxQuantity: OrNull(
                    Type.Integer({
                      minimum: 1,
                      maximum: 1_000_000_000,
                      description: 'Units up to this; null in the last bracket.',
                    }),
                  ),
                },
                { additionalProperties: false },
              ),
              { minItems: 1, maxItems: 100, description: 'Of tiered, volume and stairstep, ascending.' },
            ),
          ),
        ),
      },
      { additionalProperties: false, description: 'How an amount comes from a quantity.' },
    ),
    recurringInterval: NullableInterval,
    trial: Type.Optional(
      OrNull(
        Type.Object(
          { price: price('Per item, whatever the quantity.'), period: PeriodSchema },
          { additionalProperties: false, description: 'What comes before the first period.' },
        ),
      ),
    ),
    isTrialOnly: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether nothing follows the trial.' }),
    ),
    setup: Nullable(
      Type.Object(
        { price: price('Per item, on the first invoice.') },
        { additionalProperties: false, description: 'What is paid once, at first.' },
      ),
    ),
    invoiceTimeShift: NullableTimeShift,
    isActive: Type.Optional(Type.Boolean({ default: true, description: 'Whether new orders may use it.' })),
  },
  {
    $id: 'Plan',
    additionalProperties: false,
    description:
      'What is sold, at which price and how often. Without recurringInterval and trial: a one-time sale; with a trial alone: a trial and nothing after it.',
  },
)
export type Plan = Static<typeof Plan>
