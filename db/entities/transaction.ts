import { defineEntity, p } from '@mikro-orm/core'
import { id, json, listIndexes, resourceColumns, searchText, tenantKey } from './columns.ts'

export type TransactionType = 'sale' | 'refund'
export type TransactionResult = 'approved' | 'declined' | 'unknown'

const TransactionSchema = defineEntity({
  name: 'Transaction',
  tableName: 'transactions',
  indexes: [
    ...listIndexes('transactions'),
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
    searchText: searchText('"customer_id"', '"currency"', '"type"', '"result"'),
    ...resourceColumns,
  },
})

/** Money that moved, or was meant to. */
export class Transaction extends TransactionSchema.class {}
TransactionSchema.setClass(Transaction)
