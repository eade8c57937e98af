import Type, { type Static } from 'typebox'
import { Amount, Id, OrNull, ReadOnly, resourceMembers } from './conventions.ts'

export const Transaction = Type.Object(
  {
    ...resourceMembers,
    type: Type.Enum(['sale']),
    customerId: Id('Who paid.'),
    currency: Type.String({ format: 'currency', description: 'ISO 4217 code.' }),
    amount: Amount('How much.', { exclusiveMinimum: 0 }),
    paymentInstruction: Type.Object(
      { method: Type.Literal('external') },
      { additionalProperties: false, description: 'How it was paid: outside of this service.' },
    ),
    result: ReadOnly(OrNull(Type.Enum(['approved', 'declined', 'unknown']))),
  },
  { $id: 'Transaction', additionalProperties: false, description: 'Money that moved, or was meant to.' },
)
export type Transaction = Static<typeof Transaction>
