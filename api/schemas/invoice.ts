import Type from 'typebox'
import { INVOICE_STATUSES } from '../../billing/invoices.ts'
import { Amount, Id, Instant, OrNull, ReadOnly, resourceMembers, Text } from './conventions.ts'

const time = (description: string) => ReadOnly(OrNull(Instant(description)))

export const Invoice = Type.Object(
  {
    ...resourceMembers,
    subscriptionId: ReadOnly(Id('Order it belongs to.')),
    customerId: ReadOnly(Id('Who owes it.')),
    websiteId: ReadOnly(Id('Where it was ordered.')),
    type: ReadOnly(Type.Enum(['initial', 'renewal'])),
    status: ReadOnly(Type.Enum([...INVOICE_STATUSES])),
    currency: ReadOnly(Type.String({ description: 'ISO 4217 code.' })),
    amount: ReadOnly(Amount('The sum of its items.')),
    amountDue: ReadOnly(Amount('What is left to be paid.')),
    items: ReadOnly(
      Type.Array(
        Type.Object({
          type: Type.Enum(['setup', 'trial', 'plan', 'shipping']),
          itemId: OrNull(Type.String()),
          planId: OrNull(Type.String()),
          description: Type.String(),
          quantity: Type.Integer(),
          amount: Type.Number(),
        }),
      ),
    ),
    discounts: ReadOnly(Type.Array(Type.Object({}), { description: 'Empty until there are coupons.' })),
    periodNumber: ReadOnly(OrNull(Type.Integer({ description: 'Period it bills; 0 is the trial.' }))),
    periodStart: time('Where that period begins.'),
    periodEnd: time('Where it ends, exclusive.'),
    issuedTime: time('When it was issued.'),
    dueTime: time('When it is due.'),
    delinquencyTime: time('When it cancels its order if still unpaid; null: it does not.'),
    paidTime: time('When it was paid.'),
    voidedTime: time('When it was voided.'),
    autopayRetryNumber: ReadOnly(Type.Integer({ description: 'Repeated attempts to charge it.' })),
    poNumber: ReadOnly(OrNull(Text('Purchase order number of the order when it was made.'))),
    notes: ReadOnly(OrNull(Type.String({ description: 'Notes of the order when it was made.' }))),
  },
  {
    $id: 'Invoice',
    additionalProperties: false,
    description: 'What a customer owes for a period of an order.',
  },
)
