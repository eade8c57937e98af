import { abandonInvoice, reissueInvoice } from '../../billing/invoice-commands.ts'
import type { Order, Transition } from '../../billing/order.ts'
import { voidInvoice } from '../../billing/order-commands.ts'
import { ownValue } from '../../billing/own-value.ts'
import { actOnInvoice, lockInvoice } from '../../commands/invoices/act-on-invoice.ts'
import {
  Invoice as InvoiceRow,
  Plan,
  Product,
  Transaction as TransactionRow,
} from '../../db/entities/index.ts'
import { invoiceSearch } from '../../db/entities/invoice.ts'
import { plainRowReader } from '../../db/plain-rows.ts'
import { listedRows } from '../../db/row-security.ts'
import { statement } from '../../db/statement.ts'
import { presentAllocation, presentInvoice, presentInvoiceItems } from '../../representations/invoice.ts'
import { presentPlan } from '../../representations/plan.ts'
import { presentProduct } from '../../representations/product.ts'
import { presentTransaction } from '../../representations/transaction.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { type Field, fieldsOf, reference } from '../query/fields.ts'
import { pageOf, type Range } from '../query/paging.ts'
import { embedding } from '../resources/embedding.ts'
import { notFound, type Presentable, type Resource } from '../resources/resource.ts'
import { presentAll, respondIn } from '../resources/respond.ts'
import { Invoice, type InvoiceReissue } from '../schemas/invoice.ts'
import { invoiceExpanders } from './expand-order.ts'

const SUBTOTAL = `(select coalesce(sum((line ->> 'amount')::numeric), 0) from jsonb_array_elements(row.lines) line
   where line ->> 'type' <> 'shipping')`
const SHIPPING = `(select sum((line ->> 'amount')::numeric) from jsonb_array_elements(row.lines) line
   where line ->> 'type' = 'shipping')`
/** The member `autopayScheduledTime` in SQL. */
const SCHEDULED = `coalesce(row.charge_time, case when (row.charge ->> 'isOwn')::boolean and row.charge ->> 'answer' <> 'timed-out'
   then to_timestamp((row.charge ->> 'at')::numeric / 1000) end)`
const TAXES = `jsonb_path_query(row.lines, '$[*].taxes[*]')`
/** Whole days from an instant to the payment, as `presentInvoice` counts them. */
const daysFrom = (column: string): Field => ({
  sql: `(case when row.paid_time - row.${column} is not null
          then greatest(0, floor(extract(epoch from row.paid_time - row.${column}) / 86400)) end)`,
  type: 'number',
})

/** Own invoices have none. */
const OF_ORDER: Field = { ...reference('subscription_id', 'subscriptions'), always: false }

export const invoices: Resource<InvoiceRow> = {
  name: 'Invoice',
  label: 'invoice',
  path: 'invoices',
  schema: Invoice,
  entity: InvoiceRow,
  table: 'invoices',
  search: invoiceSearch,
  fields: fieldsOf(Invoice, {
    'billingAddress.hash': null,
    'deliveryAddress.hash': null,
    subscriptionId: OF_ORDER,
    orderId: OF_ORDER,
    subtotalAmount: { sql: SUBTOTAL, type: 'number' },
    'shipping.amount': { sql: SHIPPING, type: 'number' },
    'shipping.calculator': { sql: `(case when ${SHIPPING} is not null then 'manual' end)`, type: 'text' },
    'tax.calculator': { sql: `'manual'::text`, type: 'text' },
    'tax.amount': {
      sql: `(select coalesce(sum((tax ->> 'amount')::numeric), 0) from ${TAXES} tax)`,
      type: 'number',
    },
    'tax.isInclusive': {
      sql: `(exists (select from ${TAXES} tax where tax ->> 'isIncluded' = 'true'))`,
      type: 'boolean',
    },
    isNewOrder: { sql: `(row.type = 'initial')`, type: 'boolean' },
    collectionPeriod: daysFrom('issued_time'),
    delinquentCollectionPeriod: daysFrom('due_time'),
    autopayScheduledTime: { sql: SCHEDULED, type: 'time' },
  }),
  // A transaction changes without its invoice.
  isVolatile: ({ status }) => status !== 'draft',
  present: async (row, context) => (await presentInvoices([row], context))[0] ?? {},
  presentPage: presentInvoices,
  expanders: invoiceExpanders,
}

async function presentInvoices(
  rows: readonly InvoiceRow[],
  context: Pick<OperationContext, 'em' | 'organizationId' | 'baseUrl'>,
): Promise<object[]> {
  const transactions = await transactionsOf(rows, context)
  return rows.map((row) => ({
    ...presentInvoice(row, context.baseUrl),
    transactions: (transactions.get(row.id) ?? []).map((one) => presentTransaction(one, context.baseUrl)),
  }))
}

/** Sales for invoices and their refunds, oldest first, by invoice. */
async function transactionsOf(
  invoices: readonly Pick<InvoiceRow, 'id'>[],
  { em, organizationId }: Pick<OperationContext, 'em' | 'organizationId'>,
): Promise<ReadonlyMap<string, TransactionRow[]>> {
  if (invoices.length === 0) return new Map()
  const found = await statement<{ for_invoice: string }>(
    em,
    'read-transactions-of-invoices',
    `with sale as (
       select given.id as for_invoice, transactions.* from jsonb_array_elements_text(?::jsonb) given(id)
         join ${listedRows('transactions')} transactions
           on organization_id = ? and invoice_ids @> jsonb_build_array(given.id)
     )
     select * from sale
      union all
     select sale.for_invoice, refund.* from sale
       join transactions refund on refund.organization_id = sale.organization_id
        and refund.parent_transaction_id = sale.id and refund.shares ->> sale.for_invoice is not null
      order by created_time, id`,
    [JSON.stringify(invoices.map(({ id }) => id)), organizationId],
  )
  const read = plainRowReader(em, TransactionRow)
  const byInvoice = Map.groupBy(found, (raw) => raw.for_invoice)
  return new Map([...byInvoice].map(([id, raws]) => [id, raws.map((raw) => read(raw))]))
}

interface ItemRow {
  readonly id: string
  readonly planId: string | null
  readonly productId: string | null
}

export const invoiceItems: Presentable<ItemRow> = {
  present: (item) => item,
  expanders: {
    product: embedding(Product, ({ productId }) => productId, presentProduct),
    plan: embedding(Plan, ({ planId }) => planId, presentPlan),
  },
}

export async function getInvoiceItems(context: OperationContext): Promise<OperationResponse> {
  const all = presentInvoiceItems(await readInvoice(context), context.baseUrl)
  const { items, page } = pageOf(all, context.query as unknown as Range)
  return { body: await presentAll(context, invoiceItems, items), page }
}

export async function getInvoiceItem(context: OperationContext): Promise<OperationResponse> {
  const { itemId = '' } = context.params
  const items = presentInvoiceItems(await readInvoice(context), context.baseUrl)
  const item = items.find(({ id }) => id === itemId)
  if (item === undefined) throw notFound({ label: 'item of the invoice' }, itemId)
  const [body] = await presentAll(context, invoiceItems, [item])
  return { body }
}

export async function getTransactionAllocations(context: OperationContext): Promise<OperationResponse> {
  const invoice = await readInvoice(context)
  const transactions = (await transactionsOf([invoice], context)).get(invoice.id) ?? []
  const allocations = transactions.flatMap((transaction) => {
    const amount = ownValue(transaction.payments, invoice.id)
    return amount === undefined ? [] : [presentAllocation(invoice, transaction, amount, context.baseUrl)]
  })
  const { items, page } = pageOf(allocations, context.query as unknown as Range)
  return { body: items, page }
}

export async function postInvoiceVoid(context: OperationContext): Promise<OperationResponse> {
  return await act(context, () => voidInvoice)
}

export async function postInvoiceAbandon(context: OperationContext): Promise<OperationResponse> {
  return await act(context, () => abandonInvoice)
}

export async function postInvoiceReissue(context: OperationContext): Promise<OperationResponse> {
  return await act(context, () => {
    const { dueTime } = context.body<InvoiceReissue>()
    const due = dueTime == null ? null : new Date(dueTime).getTime()
    return (order, at, sequence) => reissueInvoice(order, at, sequence, due)
  })
}

/** Locks the order of the invoice. The body is read once the invoice is found. */
async function act(
  context: OperationContext,
  read: () => (order: Order, at: number, sequence: number) => Transition,
): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const id = context.params.id ?? ''
    const owned = await lockInvoice(unit, id)
    if (owned === null) throw notFound(invoices, id)
    const command = read()
    const { invoice } = owned
    await actOnInvoice(unit, owned, ({ order }, at) => command(order, at, invoice.sequence))
    return await respondIn(unit, context, invoices, invoice)
  })
}

async function readInvoice({ em, organizationId, params }: OperationContext): Promise<InvoiceRow> {
  const id = params.id ?? ''
  const row = await em.findOne(InvoiceRow, { organizationId, id })
  if (row === null) throw notFound(invoices, id)
  return row
}
