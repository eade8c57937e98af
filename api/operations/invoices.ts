import { Invoice as InvoiceRow } from '../../db/entities/index.ts'
import { invoiceSearch } from '../../db/entities/invoice.ts'
import { presentInvoice } from '../../representations/invoice.ts'
import { fieldsOf, reference } from '../query/fields.ts'
import type { Resource } from '../resources/resource.ts'
import { Invoice } from '../schemas/invoice.ts'

export const invoices: Resource<InvoiceRow> = {
  name: 'Invoice',
  label: 'invoice',
  path: 'invoices',
  schema: Invoice,
  entity: InvoiceRow,
  table: 'invoices',
  search: invoiceSearch,
  fields: fieldsOf(Invoice, { subscriptionId: reference('subscription_id', 'subscriptions') }),
  present: (row, { baseUrl }) => presentInvoice(row, baseUrl),
}
