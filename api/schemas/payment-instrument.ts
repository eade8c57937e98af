import Type, { type Static } from 'typebox'
import { CARD_BRANDS } from '../../billing/cards.ts'
import { Contact } from './contact.ts'
import { Id, OrNull, ReadOnly, resourceMembers } from './conventions.ts'

export const PaymentInstrument = Type.Object(
  {
    ...resourceMembers,
    customerId: Id('Customer who owns the payment instrument.'),
    token: Id('Payment token, which is consumed to create the payment instrument.', { writeOnly: true }),
    method: ReadOnly(Type.Enum(['payment-card'])),
    bin: ReadOnly(Type.String({ description: 'First six digits of the card number.' })),
    last4: ReadOnly(Type.String({ description: 'Last four digits of the card number.' })),
    brand: ReadOnly(Type.Enum([...CARD_BRANDS])),
    expMonth: ReadOnly(Type.Integer({ description: 'Month in which the card expires.' })),
    expYear: ReadOnly(Type.Integer({ description: 'Year in which the card expires.' })),
    status: ReadOnly(Type.Enum(['active', 'inactive'])),
    billingAddress: ReadOnly(OrNull(Contact)),
  },
  { $id: 'PaymentInstrument', additionalProperties: false, description: 'A payment card of a customer.' },
)
export type PaymentInstrument = Static<typeof PaymentInstrument>
