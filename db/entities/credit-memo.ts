import { defineEntity, p } from '@mikro-orm/core'
import type { CreditMemoItem, CreditMemoReason, CreditMemoStatus } from '../../billing/credit-memos.ts'
import {
  EMPTY_ARRAY,
  id,
  instant,
  json,
  listIndexes,
  resourceColumns,
  searchExpression,
  tenantKey,
} from './columns.ts'

export const creditMemoSearch = searchExpression(
  'customer_id',
  'invoice_id',
  'currency',
  'status',
  'reason',
  'description',
)

const amount = () => p.decimal().precision(18).scale(6).$type<string>()

const CreditMemoSchema = defineEntity({
  name: 'CreditMemo',
  tableName: 'credit_memos',
  indexes: [
    ...listIndexes('credit_memos', creditMemoSearch),
    { name: 'credit_memos_customer_index', properties: ['organizationId', 'customerId'] },
    {
      name: 'credit_memos_unused_index',
      expression: `create index "credit_memos_unused_index" on "credit_memos" ("organization_id", "customer_id") where "unused_amount" > 0`,
    },
  ],
  uniques: [{ name: 'credit_memos_number_unique', properties: ['organizationId', 'number'] }],
  properties: {
    ...tenantKey,
    /** Counts the memos of an organization from 1. */
    number: p.integer(),
    customerId: id(),
    /** The invoice that it was made for; null: none. */
    invoiceId: id().nullable(),
    currency: p.string().length(3),
    status: p.string().length(20).$type<CreditMemoStatus>(),
    reason: p.string().length(30).$type<CreditMemoReason>(),
    description: p.text(),
    /** Their unit prices are decimal strings. */
    items: json<(CreditMemoItem & { id: string })[]>(),
    /** Decimal strings. */
    shippingAmount: amount(),
    totalAmount: amount(),
    unusedAmount: amount(),
    /** What invoices use of it; their amounts are decimal strings. */
    invoiceAllocations: json<{ invoiceId: string; amount: string }[]>().defaultRaw(EMPTY_ARRAY),
    voidedTime: instant().nullable(),
    ...resourceColumns,
  },
})

/** What a customer is owed: it covers invoices, or waits for the next one. */
export class CreditMemo extends CreditMemoSchema.class {}
CreditMemoSchema.setClass(CreditMemo)

const CreditMemoCounterSchema = defineEntity({
  name: 'CreditMemoCounter',
  tableName: 'credit_memo_counters',
  properties: {
    organizationId: id().primary(),
    lastNumber: p.integer(),
  },
})

/** The last number of a credit memo of an organization. */
export class CreditMemoCounter extends CreditMemoCounterSchema.class {}
CreditMemoCounterSchema.setClass(CreditMemoCounter)
