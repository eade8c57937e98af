import Type, { type Static } from 'typebox'
import { CARD_BRANDS } from '../../billing/cards.ts'
import { Contact } from './contact.ts'
import { Id, OrNull, ReadOnly, resourceMembers } from './conventions.ts'

export const PaymentInstrument = Type.Object(
  {
    ...resourceMembers,
    customerId: Id('Whose it is.'),
    token: Id('The payment token it is made of, used up by this.', { writeOnly: true }),
    method: ReadOnly(Type.Enum(['payment-card'])),
    bin: ReadOnly(Type.String({ description: 'The first six digits.' })),
    last4: ReadOnly(Type.String({ description: 'The last four digits.' })),
    brand: ReadOnly(Type.Enum([...CARD_BRANDS])),
    expMonth: ReadOnly(Type.Integer({ description: 'Month of expiry.' })),
    expYear: ReadOnly(Type.Integer({ description: 'Year of expiry.' })),
    status: ReadOnly(Type.Enum(['active', 'inactive'])),
    billingAddress: ReadOnly(OrNull(Contact)),
  },
  { $id: 'PaymentInstrument', additionalProperties: false, description: 'A card of a customer.' },
)
export type PaymentInstrument = Static<typeof PaymentInstrument>
