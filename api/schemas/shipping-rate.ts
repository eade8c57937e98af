import Type, { type Static } from 'typebox'
import { Amount, Nullable, resourceMembers, Text } from './conventions.ts'
import { notSupportedYet } from './not-supported.ts'

export const ShippingRate = Type.Object(
  {
    ...resourceMembers,
    name: Text('Display name.', { minLength: 1 }),
    description: Nullable(Type.String({ maxLength: 1000, description: 'Description of the rate.' })),
    price: Amount('Price of shipping.', { minimum: 0 }),
    currency: Type.String({ format: 'currency', description: 'ISO 4217 code.' }),
    status: Type.Optional(
      Type.Enum(['active', 'inactive'], { default: 'active', description: 'Whether the rate is on offer.' }),
    ),
    ...notSupportedYet({ filter: '' }),
  },
  { $id: 'ShippingRate', additionalProperties: false, description: 'A price of shipping.' },
)
export type ShippingRate = Static<typeof ShippingRate>
