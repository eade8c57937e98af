import { canonicalJson } from '../../billing/canonical-json.ts'
import type { CreditedTax } from '../../billing/credit-memos.ts'
import { InvalidFieldsError } from '../../billing/errors.ts'
import { amountOf, jsonAmount } from '../../billing/money.ts'
import { allocateCreditBalance } from '../../commands/credit-memos/allocate-credit.ts'
import { refundCreditMemo } from '../../commands/credit-memos/refund-credit-memo.ts'
import {
  type CreditMemoValues,
  createCreditMemo,
  emitCreditMemoChange,
  lockCreditMemo,
  updateCreditMemo,
  voidCreditMemo,
} from '../../commands/credit-memos/save-credit-memo.ts'
import { lockInvoice } from '../../commands/invoices/act-on-invoice.ts'
import { changeRow } from '../../db/change-row.ts'
import { creditMemoSearch } from '../../db/entities/credit-memo.ts'
import { CreditMemo as CreditMemoRow, Customer } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { presentCreditAllocation, presentCreditMemo } from '../../representations/credit-memo.ts'
import { presentCustomer } from '../../representations/customer.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { fieldsOf, reference } from '../query/fields.ts'
import { embedding } from '../resources/embedding.ts'
import { patch } from '../resources/patch.ts'
import { notFound, type Resource, type Writer } from '../resources/resource.ts'
import { respondIn } from '../resources/respond.ts'
import { CreditMemo } from '../schemas/credit-memo.ts'
import type { InvoiceCreditMemoAllocationRequest } from '../schemas/invoice.ts'
import { TAX_PARTS } from '../schemas/tax.ts'
import { customers } from './customers.ts'
import { invoices } from './invoices.ts'

export const creditMemos: Resource<CreditMemoRow> = {
  name: 'CreditMemo',
  label: 'credit memo',
  path: 'credit-memos',
  schema: CreditMemo,
  entity: CreditMemoRow,
  table: 'credit_memos',
  search: creditMemoSearch,
  fields: fieldsOf(CreditMemo, {
    customerId: reference('customer_id', 'customers'),
    taxAmount: {
      sql: "(select coalesce(sum((item #>> '{tax,amount}')::numeric), 0) from jsonb_array_elements(row.items) item)",
      type: 'number',
      always: true,
    },
  }),
  present: (row, { baseUrl }) => presentCreditMemo(row, baseUrl),
  expanders: { customer: embedding(Customer, (row) => row.customerId, presentCustomer) },
}

export const creditMemoWriter: Writer<CreditMemoRow, CreditMemo> = {
  lock: lockCreditMemo,
  create(unit, id, body) {
    requireAllocations(body, { invoices: [], transactions: [] }, isSame)
    return createCreditMemo(unit, id, valuesOf(body))
  },
  // A client may send what it read before more of the memo was used.
  update: (unit, row, body) => update(unit, row, body, isPartOf),
  changed: (unit, row) => emitCreditMemoChange(unit, row, 'credit-memo-modified'),
}

/** Responds with 409 if an invoice uses it, or if it is voided already. */
export async function patchCreditMemo(context: OperationContext): Promise<OperationResponse> {
  return await patch<CreditMemoRow, CreditMemo>(context, creditMemos, {
    lock: lockCreditMemo,
    update: (unit, row, body) => update(unit, row, body, isSame),
    changed: (unit, row) => emitCreditMemoChange(unit, row, 'credit-memo-modified'),
    changeable: ['items', 'shippingAmount', 'reason', 'description', 'allocations'],
  })
}

export async function postCreditMemoRefund(context: OperationContext): Promise<OperationResponse> {
  const id = context.params.id ?? ''
  return await context.commit(async (unit) => {
    const row = await lockRow(unit, CreditMemoRow, id)
    if (row === null) throw notFound(creditMemos, id)
    await changeRow(unit, row, () => refundCreditMemo(unit, row))
    await emitCreditMemoChange(unit, row, 'credit-memo-applied')
    return await respondIn(unit, context, creditMemos, row)
  })
}

export async function postCreditMemoVoid(context: OperationContext): Promise<OperationResponse> {
  const id = context.params.id ?? ''
  return await context.commit(async (unit) => {
    const row = await lockCreditMemo(unit, id)
    if (row === null) throw notFound(creditMemos, id)
    await changeRow(unit, row, () => voidCreditMemo(unit, row))
    await emitCreditMemoChange(unit, row, 'credit-memo-voided')
    return await respondIn(unit, context, creditMemos, row)
  })
}

export async function getCreditBalance(context: OperationContext): Promise<OperationResponse> {
  const { em, organizationId } = context
  const id = context.params.id ?? ''
  if ((await em.count(Customer, { organizationId, id })) === 0) throw notFound(customers, id)
  const balances = await statement<{ currency: string; left: string }>(
    em,
    'read-credit-balance',
    `select currency, sum(unused_amount)::text as left from credit_memos
      where organization_id = ? and customer_id = ? and unused_amount > 0 group by currency order by currency`,
    [organizationId, id],
  )
  return {
    body: {
      balances: balances.map(({ currency, left }) => ({ currency, unallocatedAmount: jsonAmount(left) })),
    },
  }
}

export async function postCreditAllocation(context: OperationContext): Promise<OperationResponse> {
  const id = context.params.id ?? ''
  return await context.commit(async (unit) => {
    const owned = await lockInvoice(unit, id)
    if (owned === null) throw notFound(invoices, id)
    const { amount, allocationOrder } = context.body<InvoiceCreditMemoAllocationRequest>()
    const used = await allocateCreditBalance(unit, owned, {
      amount: amount === undefined ? null : amountOf(amount),
      newestFirst: allocationOrder === 'newest-first',
    })
    return { body: presentCreditAllocation(owned.invoice, used) }
  })
}

interface Allocation {
  readonly invoiceId?: string
  readonly transactionId?: string
  readonly amount?: number
  readonly currency?: string
}

type Comparison = (given: readonly Allocation[], known: readonly Allocation[]) => boolean

const isSame: Comparison = (given, known) => canonicalJson(given) === canonicalJson(known)

/** True if the memo has each of them, for the amount at least. */
const isPartOf: Comparison = (given, known) => {
  const keyOf = ({ invoiceId, transactionId, currency }: Allocation) =>
    canonicalJson({ invoiceId, transactionId, currency })
  const amounts = new Map(known.map((one) => [keyOf(one), one.amount ?? 0]))
  return (
    new Set(given.map(keyOf)).size === given.length &&
    given.every((one) => (one.amount ?? Number.POSITIVE_INFINITY) <= (amounts.get(keyOf(one)) ?? 0))
  )
}

async function update(
  unit: UnitOfWork,
  row: CreditMemoRow,
  body: CreditMemo,
  isKnown: Comparison,
): Promise<void> {
  const { invoices, transactions } = presentCreditMemo(row, unit.baseUrl).allocations
  requireAllocations(body, { invoices, transactions }, isKnown)
  await updateCreditMemo(unit, row, valuesOf(body))
}

/** Refuses allocations that are not the memo's: no wish of a caller is dropped in silence. */
function requireAllocations(
  { allocations }: CreditMemo,
  known: Readonly<Record<keyof typeof ALLOCATED_BY, readonly Allocation[]>>,
  isKnown: Comparison,
): void {
  const problems = (['invoices', 'transactions'] as const).flatMap((name) => {
    const given = allocations?.[name] ?? []
    if (given.length === 0 || isKnown(given, known[name])) return []
    return [{ field: `allocations.${name}`, code: 'not-supported' as const, message: ALLOCATED_BY[name] }]
  })
  if (problems.length > 0) throw new InvalidFieldsError(problems)
}

const ALLOCATED_BY = {
  invoices: 'is not supported yet: name an invoice in invoiceId, or allocate the credit balance to it',
  transactions: 'is not supported yet: refund the credit memo',
}

function valuesOf(body: CreditMemo): CreditMemoValues {
  return {
    customerId: body.customerId,
    invoiceId: body.invoiceId ?? null,
    currency: body.currency,
    items: (body.items ?? []).map(({ description, unitPrice, quantity, tax }) => ({
      description: description ?? '',
      unitPrice: amountOf(unitPrice),
      quantity,
      ...(tax == null ? {} : { tax: creditedTaxOf(tax) }),
    })),
    shippingAmount: amountOf(body.shippingAmount ?? 0),
    reason: body.reason ?? 'other',
    description: body.description ?? '',
  }
}

type GivenTax = NonNullable<NonNullable<CreditMemo['items']>[number]['tax']>

function creditedTaxOf({ amount, description, rate, jurisdictions, ...parts }: GivenTax): CreditedTax {
  const { country = null, state = null, county = null, city = null } = jurisdictions ?? {}
  return {
    amount: amountOf(amount),
    description,
    rate: rate == null ? null : amountOf(rate),
    parts: Object.fromEntries(
      TAX_PARTS.flatMap((name) => (parts[name] == null ? [] : [[name, amountOf(parts[name])]])),
    ),
    jurisdictions: jurisdictions == null ? null : { country, state, county, city },
  }
}
