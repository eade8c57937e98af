import Type, { type Static } from 'typebox'
import { resourceMembers, Text } from './conventions.ts'

export const Plan = Type.Object(
  {
    ...resourceMembers,
    name: Text('What people call it.', { minLength: 1 }),
    currency: Type.String({ format: 'currency', description: 'ISO 4217 code.' }),
    pricing: Type.Object(
      {
        formula: Type.Literal('fixed-fee'),
        price: Type.Number({
          minimum: 0,
          exclusiveMaximum: 1e12,
          description: 'Amount per period, whatever the quantity.',
        }),
      },
      { additionalProperties: false, description: 'How an amount comes from a quantity.' },
    ),
    recurringInterval: Type.Object(
      {
        unit: Type.Enum(['day', 'week', 'month', 'year']),
        length: Type.Integer({ minimum: 1, maximum: 1000, description: 'How many units make a period.' }),
      },
      { additionalProperties: false, description: 'Length of a service period.' },
    ),
    isActive: Type.Optional(Type.Boolean({ default: true, description: 'Whether new orders may use it.' })),
  },
  { $id: 'Plan', additionalProperties: false, description: 'What is sold, at which price and how often.' },
)
export type Plan = Static<typeof Plan>
