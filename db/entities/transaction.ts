import { defineEntity, p } from '@mikro-orm/core'
import { id, json, listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

export type TransactionType = 'sale' | 'refund'
export type TransactionResult = 'approved' | 'declined' | 'unknown'

/** What `q` searches. */
export const transactionSearch = searchExpression('customer_id', 'currency', 'type', 'result')

const TransactionSchema = defineEntity({
  name: 'Transaction',
  tableName: 'transactions',
  indexes: [
    ...listIndexes('transactions', transactionSearch),
    { name: 'transactions_customer_index', properties: ['organizationId', 'customerId'] },
  ],
  properties: {
    ...tenantKey,
    type: p.string().length(20).$type<TransactionType>(),
    customerId: id(),
    currency: p.string().length(3),
    /** A decimal string. */
    amount: p.decimal().precision(18).scale(6).$type<string>(),
    paymentInstruction: json<{ method: 'external' }>(),
    result: p.string().length(20).$type<TransactionResult>().nullable(),
    ...resourceColumns,
  },
})

/** Money that moved, or was meant to. */
export class Transaction extends TransactionSchema.class {}
TransactionSchema.setClass(Transaction)
