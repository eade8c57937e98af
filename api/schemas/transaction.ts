import Type, { type Static } from 'typebox'
import { Amount, Id, Instant, Nullable, OrNull, ReadOnly, resourceMembers } from './conventions.ts'

export const Transaction = Type.Object(
  {
    ...resourceMembers,
    type: Type.Enum(['sale', 'refund']),
    customerId: Nullable(Id('Customer who pays. Required for a sale.')),
    currency: Nullable(
      Type.String({ format: 'currency', description: 'ISO 4217 currency code. Required for a sale.' }),
    ),
    amount: Nullable(
      Amount('Amount. Required for a sale; a refund without it is for the whole refundable amount.', {
        exclusiveMinimum: 0,
      }),
    ),
    paymentInstruction: Nullable(
      Type.Object(
        {
          method: Type.Optional(Type.Enum(['external'])),
          token: Type.Optional(Id('A payment token, which the sale consumes.')),
          paymentInstrumentId: Type.Optional(Id('A payment instrument of the customer.')),
        },
        {
          additionalProperties: false,
          minProperties: 1,
          maxProperties: 1,
          description:
            'How the sale is paid: by payment token, by payment instrument, or outside of this service. Required for a sale.',
        },
      ),
    ),
    parentTransactionId: Nullable(Id('Sale that is refunded. Required for a refund.')),
    invoiceIds: Type.Optional(
      Type.Array(Id('An unpaid invoice of the customer.'), {
        maxItems: 100,
        uniqueItems: true,
        default: [],
        description:
          'Invoices that the sale pays, in this order. The amount of the sale must not exceed their amount due.',
      }),
    ),
    status: ReadOnly(
      Type.Enum(['pending', 'completed'], {
        description: 'Status of the transaction: pending until its outcome is known.',
      }),
    ),
    result: ReadOnly(
      OrNull(
        Type.Enum(['approved', 'declined', 'unknown', 'canceled'], {
          description:
            'Outcome of the transaction. canceled: the request never reached the gateway, and no money moved.',
        }),
      ),
    ),
    gateway: ReadOnly(OrNull(Type.String({ description: 'Gateway that processed the transaction.' }))),
    requestId: ReadOnly(OrNull(Type.String({ description: 'Id of the request at the gateway.' }))),
    rawResponse: ReadOnly(OrNull(Type.String({ description: 'Raw response of the gateway.' }))),
    nextInquiryTime: ReadOnly(OrNull(Instant('When the service next asks the gateway for the outcome.'))),
  },
  { $id: 'Transaction', additionalProperties: false, description: 'A sale or a refund.' },
)
export type Transaction = Static<typeof Transaction>
