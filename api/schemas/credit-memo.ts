import Type, { type Static } from 'typebox'
import { CREDIT_MEMO_REASONS, CREDIT_MEMO_STATUSES } from '../../billing/credit-memos.ts'
import { Amount, Id, Nullable, ReadOnly, resourceMembers } from './conventions.ts'
import { notSupportedYet } from './not-supported.ts'
import { GivenTax } from './tax.ts'

export const CreditMemoInvoiceAllocation = Type.Object(
  {
    invoiceId: Type.Optional(Id('Invoice that uses the credit.')),
    amount: Type.Optional(Amount('Amount that the invoice uses.')),
    currency: Type.Optional(Type.String({ description: 'ISO 4217 code.' })),
  },
  { title: 'CreditMemoInvoiceAllocation', additionalProperties: false },
)

export const CreditMemo = Type.Object(
  {
    ...resourceMembers,
    number: ReadOnly(
      Type.Integer({ minimum: 1, description: 'Number of the credit memo in the organization.' }),
    ),
    customerId: Id('Customer who is credited. It cannot be changed.'),
    currency: Type.String({ format: 'currency', description: 'ISO 4217 code. It cannot be changed.' }),
    invoiceId: Nullable(
      Id(
        'Invoice that the credit is applied to when it is created, up to what is due. The rest is part of the credit balance of the customer. It cannot be changed.',
      ),
    ),
    items: Type.Optional(
      Type.Array(
        Type.Object(
          {
            id: ReadOnly(Id('Id of the item, unique in the organization.')),
            description: Type.Optional(
              Type.String({ maxLength: 1000, default: '', description: 'What is credited.' }),
            ),
            unitPrice: Amount('Price of a unit.', { minimum: 0 }),
            quantity: Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: 'Number of units.' }),
            price: ReadOnly(Amount('Quantity times unit price.')),
            tax: GivenTax,
            ...notSupportedYet({ invoiceItemId: null, productId: null, planId: null }),
          },
          { additionalProperties: false },
        ),
        { maxItems: 1000, default: [], description: 'What is credited.' },
      ),
    ),
    shippingAmount: Type.Optional(Amount('Shipping that is credited.', { minimum: 0, default: 0 })),
    reason: Type.Optional(
      Type.Enum([...CREDIT_MEMO_REASONS], { default: 'other', description: 'Why the customer is credited.' }),
    ),
    description: Type.Optional(
      Type.String({ maxLength: 1000, default: '', description: 'Description of the credit memo.' }),
    ),
    status: ReadOnly(
      Type.Enum([...CREDIT_MEMO_STATUSES], {
        description: 'Whether invoices use none, some or all of it, or it was voided.',
      }),
    ),
    totalAmount: ReadOnly(Amount('Sum of the items, their taxes and shipping.')),
    unusedAmount: ReadOnly(Amount('Amount that no invoice uses yet.')),
    allocations: Type.Optional(
      Type.Object(
        {
          invoices: Type.Optional(
            Type.Array(CreditMemoInvoiceAllocation, {
              maxItems: 1000,
              description:
                'What invoices use of it. A request cannot change it: name an invoice in `invoiceId`, or allocate the credit balance to an invoice.',
            }),
          ),
          transactions: Type.Optional(
            Type.Array(
              Type.Object(
                {
                  transactionId: Type.Optional(Id('Refund that pays the credit back.')),
                  amount: Type.Optional(Amount('Amount of the credit that it pays back.')),
                  currency: Type.Optional(Type.String({ description: 'ISO 4217 code.' })),
                },
                { additionalProperties: false },
              ),
              {
                maxItems: 1000,
                description: 'Refunds that pay it back. A request cannot change them: refund the memo.',
              },
            ),
          ),
        },
        { additionalProperties: false, description: 'What the credit is used for.' },
      ),
    ),
    ...notSupportedYet({ quoteId: null }),
    taxAmount: ReadOnly(Amount('Sum of the taxes of the items.')),
  },
  {
    $id: 'CreditMemo',
    additionalProperties: false,
    description:
      'What a customer is owed. It reduces what an invoice owes, or waits as credit balance for the next invoice of its currency.',
  },
)
export type CreditMemo = Static<typeof CreditMemo>

export const CustomerCreditBalance = Type.Object(
  {
    balances: ReadOnly(
      Type.Array(
        Type.Object({
          currency: Type.String({ description: 'ISO 4217 code.' }),
          unallocatedAmount: Amount('Amount that no invoice uses yet.'),
        }),
        { description: 'Unused credit of the customer, by currency.' },
      ),
    ),
  },
  {
    $id: 'CustomerCreditBalance',
    additionalProperties: false,
    description: 'The credit that the next invoices of a customer use.',
  },
)
