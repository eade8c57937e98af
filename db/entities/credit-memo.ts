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
    number: p.integer(),
    customerId: id(),
    invoiceId: id().nullable(),
    /** The order that left the credit when its service ended. */
    subscriptionId: id().nullable(),
    currency: p.string().length(3),
    status: p.string().length(20).$type<CreditMemoStatus>(),
    reason: p.string().length(30).$type<CreditMemoReason>(),
    description: p.text(),
    items: json<(CreditMemoItem & { id: string })[]>(),
    /** Decimal strings. */
    shippingAmount: amount(),
    totalAmount: amount(),
    unusedAmount: amount(),
    invoiceAllocations: json<{ invoiceId: string; amount: string }[]>().defaultRaw(EMPTY_ARRAY),
    /** The refunds that pay it back. Amounts are decimal strings. */
    transactionAllocations: json<{ transactionId: string; amount: string }[]>().defaultRaw(EMPTY_ARRAY),
    voidedTime: instant().nullable(),
    ...resourceColumns,
  },
})

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

export class CreditMemoCounter extends CreditMemoCounterSchema.class {}
CreditMemoCounterSchema.setClass(CreditMemoCounter)
