import Type, { type Static, type TSchema } from 'typebox'
import { INVOICE_STATUSES } from '../../billing/invoices.ts'
import { MOST_ITEMS } from '../../billing/own-invoices.ts'
import { Contact } from './contact.ts'
import {
  Amount,
  Id,
  Inside,
  Instant,
  NotEmbedded,
  Nullable,
  OrNull,
  ReadOnly,
  resourceMembers,
  Text,
} from './conventions.ts'

import { CreditMemoInvoiceAllocation } from './credit-memo.ts'
import { notSupportedYet, readOnlyNotSupportedYet } from './not-supported.ts'
import { InvoiceTaxes, ItemTax } from './tax.ts'
import { Transaction } from './transaction.ts'

const time = (description: string) => ReadOnly(OrNull(Instant(description)))
const days = (description: string) => ReadOnly(OrNull(Type.Integer({ minimum: 0, description })))
const { createdTime, updatedTime, _links } = resourceMembers

const withDescription = <T extends TSchema>(schema: T, description: string) =>
  ({ ...schema, description }) as T
const asReadOnly = <T extends Readonly<Record<string, TSchema>>>(members: T) =>
  Object.fromEntries(Object.entries(members).map(([name, member]) => [name, ReadOnly(member)])) as {
    [Name in keyof T]: ReturnType<typeof ReadOnly<T[Name]>>
  }

const writableItemMembers = {
  type: Type.Enum(['debit', 'credit'], { description: 'Whether the item raises or reduces the amount.' }),
  description: Type.Optional(Type.String({ maxLength: 1000, default: '', description: 'What is invoiced.' })),
  unitPrice: Amount('Price of a unit.', { minimum: 0 }),
  quantity: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000_000, default: 1, description: 'Number of units.' }),
  ),
  productId: Nullable(Id('Product that is invoiced.')),
  planId: Nullable(Id('Plan that is invoiced.')),
  periodStartTime: Nullable(Instant('Start of the period of service that is invoiced.')),
  periodEndTime: Nullable(Instant('End of the period of service that is invoiced, exclusive.')),
}
const computedItemMembers = {
  price: ReadOnly(Amount('Quantity times unit price.')),
  subscriptionId: ReadOnly(OrNull(Id('Order of the item.'))),
  periodNumber: ReadOnly(
    OrNull(Type.Integer({ description: 'Number of the period of service; 0 is the trial.' })),
  ),
  tax: ItemTax,
}

export const InvoiceItem = Type.Object(
  {
    id: ReadOnly(Id('Id of the item, unique in the organization.')),
    ...writableItemMembers,
    ...computedItemMembers,
    createdTime,
    updatedTime,
    _links,
  },
  { $id: 'InvoiceItem', additionalProperties: false, description: 'An item of an invoice.' },
)
export type InvoiceItem = Static<typeof InvoiceItem>

const amounts = {
  amount: ReadOnly(Amount('Sum of the items, less discounts, with the taxes that are added.')),
  amountDue: ReadOnly(Amount('Amount that remains to be paid.')),
  subtotalAmount: ReadOnly(Amount('Sum of the items without shipping, before discounts.')),
  discountAmount: ReadOnly(Amount('Sum of the discounts.')),
  discounts: ReadOnly(
    Type.Array(
      Type.Object({
        couponId: Id('Coupon of the discount.'),
        redemptionId: Id('Redemption of the coupon.'),
        amount: Amount('What the coupon takes off.'),
        description: Type.String({ description: 'Description of the coupon.' }),
        context: Type.Enum(['items'], { description: 'What is discounted: all items but shipping.' }),
      }),
      { description: 'Discounts by coupons, in the order of application.' },
    ),
  ),
  isNewOrder: ReadOnly(Type.Boolean({ description: 'Whether it is the initial invoice of an order.' })),
  tax: InvoiceTaxes,
}
const currency = 'ISO 4217 code.'
const Shipping = Type.Object(
  {
    amount: Type.Number({ minimum: 0, exclusiveMaximum: 1e12 }),
    calculator: Type.Optional(Type.Enum(['manual'], { default: 'manual' })),
  },
  {
    additionalProperties: false,
    description: 'Shipping. On the invoice of an order it is one of the items too.',
  },
)
const TaxIdNumber = (description: string) =>
  ReadOnly(
    OrNull(
      Type.Object(
        {
          type: Type.Enum(['eu-vat', 'other'], { description: 'Kind of the number.' }),
          value: Type.String({ description: 'The number.' }),
        },
        { description },
      ),
    ),
  )
const BILLING_ADDRESS =
  "Billing address, of an order's invoice that of the order. If there is none, it is the customer's from the issue on."
const DELIVERY_ADDRESS = "Delivery address, of an order's invoice that of the order."
const type = ReadOnly(
  Type.Enum(['initial', 'renewal', 'interim', 'one-time'], {
    description: 'What the invoice is for. One of your own is `one-time`.',
  }),
)
const status = ReadOnly(Type.Enum([...INVOICE_STATUSES]))
const parties = {
  organizationId: ReadOnly(Id('Organization that issues the invoice.')),
  subscriptionId: ReadOnly(OrNull(Id('Order of the invoice. If null, the invoice is one of your own.'))),
}
const CUSTOMER = 'Customer who owes the invoice.'
const WEBSITE = 'Website of the invoice.'
const period = {
  periodNumber: ReadOnly(
    OrNull(Type.Integer({ description: 'Number of the invoiced period; 0 is the trial.' })),
  ),
  periodStart: time('Start of the invoiced period.'),
  periodEnd: time('End of the invoiced period, exclusive.'),
}
const PO_NUMBER =
  "Purchase order number, of an order's invoice that of the order when the invoice was created."
const NOTES = "Notes, of an order's invoice those of the order when the invoice was created."

export const Invoice = Type.Object(
  {
    ...resourceMembers,
    ...parties,
    customerId: Id(CUSTOMER),
    websiteId: Id(WEBSITE),
    currency: Type.String({ format: 'currency', description: currency }),
    orderId: ReadOnly(OrNull(Id('Same as `subscriptionId`.'))),
    type,
    status,
    invoiceNumber: ReadOnly(
      OrNull(
        Type.Integer({
          minimum: 1,
          description:
            'Number of the invoice, given when it is issued. The numbers of an organization have no gaps.',
        }),
      ),
    ),
    billingAddress: Nullable(withDescription(Contact, BILLING_ADDRESS)),
    deliveryAddress: Nullable(withDescription(Contact, DELIVERY_ADDRESS)),
    organizationTaxIdNumber: TaxIdNumber('Tax number of the organization when the invoice was issued.'),
    customerTaxIdNumber: TaxIdNumber('Tax number of the customer when the invoice was issued.'),
    ...amounts,
    shipping: Nullable(Shipping),
    items: Type.Optional(
      Type.Array(Inside(InvoiceItem), {
        maxItems: MOST_ITEMS,
        default: [],
        description: 'What the invoice is for.',
      }),
    ),
    ...period,
    issuedTime: time('When the invoice was issued.'),
    dueTime: Nullable(
      Instant(
        'When the invoice is due. If a draft has none, it is due an hour after it is issued. Ignored once the invoice is issued, which is reissued to move it.',
      ),
    ),
    delinquencyTime: time(
      'When the order is canceled if the invoice is still unpaid. If null, the order is not canceled.',
    ),
    paidTime: time('When the invoice was paid in full.'),
    voidedTime: time('When the invoice was voided.'),
    abandonedTime: time(
      'When the invoice was abandoned, by a caller or because its order was canceled for it.',
    ),
    collectionPeriod: days('Days from its issue until the invoice was paid in full.'),
    delinquentCollectionPeriod: days(
      'Days from its due time until the invoice was paid in full; 0 if it was paid before.',
    ),
    autopayScheduledTime: Nullable(
      Instant(
        "When the invoice is charged automatically, or was charged while the outcome is unknown. If null, no charge is planned. A draft of your own is charged to the customer's default payment instrument then, at the earliest when it is issued. Ignored from then on.",
      ),
    ),
    autopayRetryNumber: ReadOnly(Type.Integer({ description: 'Number of repeated charge attempts.' })),
    transactions: ReadOnly(
      NotEmbedded(
        Type.Array(Inside(Transaction), {
          description: 'Sales for the invoice, and refunds of them, oldest first.',
        }),
      ),
    ),
    creditMemoAllocations: ReadOnly(
      Type.Array(Inside(CreditMemoInvoiceAllocation), {
        description: 'What credit memos cover of the invoice, oldest first.',
      }),
    ),
    poNumber: Nullable(Text(PO_NUMBER)),
    notes: Nullable(Type.String({ maxLength: 1000, description: NOTES })),
    ...notSupportedYet({ retryInstruction: null }),
    ...readOnlyNotSupportedYet({
      quoteId: null,
      paymentFormUrl: null,
      dueReminderTime: null,
      dueReminderNumber: null,
    }),
  },
  {
    $id: 'Invoice',
    additionalProperties: false,
    description: 'What a customer owes: for one period of an order, or for items of your own.',
  },
)
export type Invoice = Static<typeof Invoice>

export const InvoiceIssue = Type.Object(
  {
    issuedTime: Nullable(Instant('When the invoice was issued, not in the future. If null, now.')),
    dueTime: Nullable(
      Instant('When the invoice is due. If null, as the draft says, or an hour after it is issued.'),
    ),
  },
  { $id: 'InvoiceIssue', additionalProperties: false, description: 'When an invoice is issued and due.' },
)
export type InvoiceIssue = Static<typeof InvoiceIssue>

export const InvoiceTransaction = Type.Object(
  {
    transactionId: Id('Approved sale or capture of the customer, in the currency of the invoice.'),
    amount: Type.Optional(
      Amount('Amount of the transaction that pays the invoice. Default: as much as is due and left.', {
        exclusiveMinimum: 0,
      }),
    ),
  },
  {
    $id: 'InvoiceTransaction',
    additionalProperties: false,
    description: 'What a sale or capture pays of an invoice.',
  },
)
export type InvoiceTransaction = Static<typeof InvoiceTransaction>

export const InvoiceReissue = Type.Object(
  {
    dueTime: Nullable(
      Instant(
        'When the invoice is due: not before the period begins that it is for. If null, as long from now as it was due after its issue.',
      ),
    ),
  },
  { $id: 'InvoiceReissue', additionalProperties: false, description: 'Another due time for an invoice.' },
)
export type InvoiceReissue = Static<typeof InvoiceReissue>

export const InvoiceCreditMemoAllocationRequest = Type.Object(
  {
    amount: Type.Optional(
      Amount('Amount to allocate, at most what is due and the balance. Default: as much as possible.', {
        exclusiveMinimum: 0,
      }),
    ),
    allocationOrder: Type.Optional(
      Type.Enum(['oldest-first', 'newest-first'], {
        default: 'oldest-first',
        description: 'Which credit memos are used first.',
      }),
    ),
  },
  {
    $id: 'InvoiceCreditMemoAllocationRequest',
    additionalProperties: false,
    description: "How much of the customer's credit balance an invoice uses.",
  },
)
export type InvoiceCreditMemoAllocationRequest = Static<typeof InvoiceCreditMemoAllocationRequest>

export const InvoiceCreditMemoAllocation = Type.Object(
  {
    invoiceId: ReadOnly(Id('The invoice.')),
    currency: ReadOnly(Type.String({ description: 'ISO 4217 code.' })),
    appliedCreditMemos: ReadOnly(
      Type.Array(
        Type.Object({
          creditMemoId: Id('Credit memo that the invoice uses.'),
          amount: Amount('Amount that this request allocated of it.'),
        }),
        { description: 'What this request allocated, in the order of use.' },
      ),
    ),
    remainingInvoiceAmount: ReadOnly(Amount('Amount that remains to be paid.')),
  },
  {
    $id: 'InvoiceCreditMemoAllocationResponse',
    additionalProperties: false,
    description: "What an invoice uses of the customer's credit balance.",
  },
)

export const InvoiceTransactionAllocation = Type.Object(
  {
    invoiceId: ReadOnly(Id('Invoice that the transaction pays.')),
    transactionId: ReadOnly(Id('Transaction that pays the invoice.')),
    amount: ReadOnly(Amount('Amount of the transaction that pays the invoice; refunds are not subtracted.')),
    currency: ReadOnly(Type.String({ description: 'ISO 4217 code.' })),
    _links,
  },
  {
    $id: 'InvoiceTransactionAllocation',
    additionalProperties: false,
    description: 'A part of a transaction that pays an invoice.',
  },
)

export const UpcomingInvoiceIssue = Type.Object(
  {
    issuedTime: Nullable(
      Instant('When the invoice was issued, in the current period and not in the future. If null, now.'),
    ),
    dueTime: Nullable(
      Instant(
        'When the invoice is due, not before its period begins. If null, as the terms of the order have it.',
      ),
    ),
  },
  {
    $id: 'UpcomingInvoiceIssue',
    additionalProperties: false,
    description: 'When an upcoming invoice is issued and due.',
  },
)
export type UpcomingInvoiceIssue = Static<typeof UpcomingInvoiceIssue>

export const SubscriptionInvoice = Type.Object(notSupportedYet({ transactionId: null }), {
  $id: 'SubscriptionInvoice',
  additionalProperties: false,
  description: 'An invoice of what is queued for the next one.',
})

export const UpcomingInvoice = Type.Object(
  {
    id: ReadOnly(Id('Id of the upcoming invoice. The invoice has it if a call issues it.')),
    ...parties,
    customerId: ReadOnly(Id(CUSTOMER)),
    websiteId: ReadOnly(Id(WEBSITE)),
    currency: ReadOnly(Type.String({ description: currency })),
    revision: ReadOnly(
      Type.Integer({ minimum: 1, description: 'Revision of the order that the preview was made from.' }),
    ),
    type,
    status,
    billingAddress: ReadOnly(Nullable(withDescription(Contact, BILLING_ADDRESS))),
    deliveryAddress: ReadOnly(Nullable(withDescription(Contact, DELIVERY_ADDRESS))),
    ...amounts,
    shipping: ReadOnly(OrNull(Shipping)),
    items: ReadOnly(
      Type.Array(
        Type.Object(
          {
            ...asReadOnly(writableItemMembers),
            ...computedItemMembers,
            isInterim: ReadOnly(
              Type.Boolean({ description: 'Whether the item is invoiced between renewals.' }),
            ),
            _links,
          },
          { description: 'An item of the upcoming invoice.' },
        ),
        { description: 'What the invoice will be for.' },
      ),
    ),
    ...period,
    issuedTime: time('When the invoice will be issued.'),
    dueTime: time('When the invoice will be due.'),
    poNumber: ReadOnly(OrNull(Text(PO_NUMBER))),
    notes: ReadOnly(OrNull(Type.String({ description: NOTES }))),
    _links,
  },
  {
    $id: 'UpcomingInvoice',
    additionalProperties: false,
    description: 'A preview of the invoice of the next renewal.',
  },
)
