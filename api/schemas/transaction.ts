import Type, { type Static } from 'typebox'
import { Amount, Id, Instant, Nullable, OrNull, ReadOnly, resourceMembers } from './conventions.ts'

export const Transaction = Type.Object(
  {
    ...resourceMembers,
    type: Type.Enum(['sale', 'refund']),
    customerId: Nullable(Id('Who paid. A sale needs it.')),
    currency: Nullable(Type.String({ format: 'currency', description: 'ISO 4217 code. A sale needs it.' })),
    amount: Nullable(
      Amount('How much. A sale needs it; a refund without it is of all that is left.', {
        exclusiveMinimum: 0,
      }),
    ),
    paymentInstruction: Nullable(
      Type.Object(
        {
          method: Type.Optional(Type.Enum(['external'])),
          token: Type.Optional(Id('A payment token, used up by this.')),
          paymentInstrumentId: Type.Optional(Id("One of the customer's payment instruments.")),
        },
        {
          additionalProperties: false,
          minProperties: 1,
          maxProperties: 1,
          description:
            'How it is paid: by token, by instrument, or outside of this service. A sale needs it.',
        },
      ),
    ),
    parentTransactionId: Nullable(Id('The sale that is given back. A refund needs it.')),
    invoiceIds: Type.Optional(
      Type.Array(Id('An open invoice of the customer.'), {
        maxItems: 100,
        uniqueItems: true,
        default: [],
        description: 'Invoices a sale pays, in this order; at most what is due of them.',
      }),
    ),
    status: ReadOnly(
      Type.Enum(['pending', 'completed'], { description: 'pending until the outcome is known.' }),
    ),
    result: ReadOnly(
      OrNull(
        Type.Enum(['approved', 'declined', 'unknown', 'canceled'], {
          description: 'canceled: it never reached the gateway, and no money moved.',
        }),
      ),
    ),
    gateway: ReadOnly(OrNull(Type.String({ description: 'Which gateway moved it.' }))),
    requestId: ReadOnly(OrNull(Type.String({ description: 'What names it at the gateway.' }))),
    rawResponse: ReadOnly(OrNull(Type.String({ description: 'What the gateway said.' }))),
    nextInquiryTime: ReadOnly(OrNull(Instant('When the gateway is asked for the outcome again.'))),
  },
  { $id: 'Transaction', additionalProperties: false, description: 'Money that moved, or was meant to.' },
)
export type Transaction = Static<typeof Transaction>
