import type { Call } from '../call.ts'
import { CATALOGUE, CUSTOMER } from './setup.ts'

const comment = { message: 'Agreed by phone.' }

export const CREDIT_MEMOS: readonly Call[] = [
  ...CATALOGUE,
  ...CUSTOMER,
  {
    operation: 'POST subscriptions',
    body: 'required',
    case: 'with what is required, unpaid',
    // The memo below leaves a part of it to pay.
    with: { autopay: false, shipping: { amount: 30, calculator: 'manual' } },
    as: 'order',
  },
  {
    operation: 'GET subscriptions/{id}',
    case: 'once it is active',
    of: ['order'],
    until: { status: 'active' },
    as: 'order',
  },
  { operation: 'GET invoices/{id}', of: ['order.initialInvoiceId'], as: 'invoice' },
  {
    operation: 'POST credit-memos',
    body: 'full',
    case: 'with every member',
    with: { allocations: {} },
    as: 'memo',
  },
  {
    operation: 'POST credit-memos',
    body: 'required',
    case: 'with allocations of its own',
    notYet: 'allocations by invoiceId, by allocate-credit-balance, by the next invoice and by refund only',
    with: {
      items: [{ unitPrice: 1, quantity: 1 }],
      allocations: { invoices: [{ invoiceId: '{invoice}', amount: 1, currency: 'EUR' }] },
    },
  },
  {
    operation: 'POST credit-memos',
    body: 'nulls',
    case: 'with nulls',
    with: { items: [{ unitPrice: 1, quantity: 1 }] },
    as: 'waiting',
  },
  { operation: 'GET credit-memos' },
  { operation: 'GET credit-memos/{id}', of: ['memo'], query: { expand: 'customer' } },
  { operation: 'GET credit-memos/{id}', of: ['memo'], as: 'memo' },
  { operation: 'PUT credit-memos/{id}', body: { held: 'memo' }, case: 'with what was read', of: ['memo'] },
  {
    operation: 'PUT credit-memos/{id}',
    body: 'required',
    case: 'with what is required, of a new id',
    with: { items: [{ unitPrice: 1, quantity: 1 }] },
    of: ['=welcome'],
    status: 201,
  },
  { operation: 'POST credit-memos/{id}/void', of: ['=welcome'] },
  { operation: 'GET customers/{id}/credit-balance', of: ['customer'] },
  {
    operation: 'POST invoices/{id}/allocate-credit-balance',
    body: 'given',
    case: 'with every member',
    sends: 'InvoiceCreditMemoAllocationRequest',
    with: { amount: 0.5, allocationOrder: 'newest-first' },
    of: ['invoice'],
  },
  { operation: 'PATCH credit-memos/{id}', body: 'given', with: { description: 'Changed.' }, of: ['memo'] },
  {
    operation: 'POST transactions',
    body: 'given',
    case: 'as a sale of no invoice',
    with: {
      type: 'sale',
      customerId: '{customer}',
      currency: 'EUR',
      amount: 10,
      paymentInstruction: { paymentInstrumentId: '{instrument}' },
    },
  },
  { operation: 'POST credit-memos/{id}/refund', of: ['waiting'] },
  { operation: 'GET credit-memos/{id}/timeline', of: ['memo'] },
  { operation: 'POST credit-memos/{id}/timeline', body: 'given', with: comment, of: ['memo'], as: 'comment' },
  { operation: 'GET credit-memos/{id}/timeline/{messageId}', of: ['memo', 'comment'] },
  { operation: 'DELETE credit-memos/{id}/timeline/{messageId}', of: ['memo', 'comment'] },
]
