import Type from 'typebox'
import { INVOICE_STATUSES } from '../../billing/invoices.ts'
import { Amount, Id, Instant, OrNull, ReadOnly, resourceMembers, Text } from './conventions.ts'

const time = (description: string) => ReadOnly(OrNull(Instant(description)))

export const Invoice = Type.Object(
  {
    ...resourceMembers,
    subscriptionId: ReadOnly(Id('Order of the invoice.')),
    customerId: ReadOnly(Id('Customer who owes the invoice.')),
    websiteId: ReadOnly(Id('Website of the order.')),
    type: ReadOnly(Type.Enum(['initial', 'renewal'])),
    status: ReadOnly(Type.Enum([...INVOICE_STATUSES])),
    currency: ReadOnly(Type.String({ description: 'ISO 4217 code.' })),
    amount: ReadOnly(Amount('Sum of the items.')),
    amountDue: ReadOnly(Amount('Amount that remains to be paid.')),
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
    discounts: ReadOnly(Type.Array(Type.Object({}), { description: 'Reserved; always empty.' })),
    periodNumber: ReadOnly(
      OrNull(Type.Integer({ description: 'Number of the invoiced period; 0 is the trial.' })),
    ),
    periodStart: time('Start of the invoiced period.'),
    periodEnd: time('End of the invoiced period, exclusive.'),
    issuedTime: time('When the invoice was issued.'),
    dueTime: time('When the invoice is due.'),
    delinquencyTime: time(
      'When the order is canceled if the invoice is still unpaid. If null, the order is not canceled.',
    ),
    paidTime: time('When the invoice was paid in full.'),
    voidedTime: time('When the invoice was voided.'),
    autopayRetryNumber: ReadOnly(Type.Integer({ description: 'Number of repeated charge attempts.' })),
    poNumber: ReadOnly(OrNull(Text("The order's purchase order number when the invoice was created."))),
    notes: ReadOnly(OrNull(Type.String({ description: "The order's notes when the invoice was created." }))),
  },
  {
    $id: 'Invoice',
    additionalProperties: false,
    description: 'An invoice for one period of an order.',
  },
)
