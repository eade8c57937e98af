import { recordExternalSale } from '../../db/commands/record-external-sale.ts'
import { Transaction as TransactionRow } from '../../db/entities/index.ts'
import { transactionSearch } from '../../db/entities/transaction.ts'
import { presentTransaction } from '../../db/representations/transaction.ts'
import { fieldsOf } from '../query/fields.ts'
import type { Resource, Writer } from '../resource.ts'
import { Transaction } from '../schemas/transaction.ts'

export const transactions: Resource<TransactionRow> = {
  name: 'Transaction',
  label: 'transaction',
  path: 'transactions',
  schema: Transaction,
  entity: TransactionRow,
  table: 'transactions',
  search: transactionSearch,
  fields: fieldsOf(Transaction, { 'paymentInstruction.method': null }),
  present: (row, { baseUrl }) => presentTransaction(row, baseUrl),
}

export const transactionWriter: Pick<Writer<TransactionRow, Transaction>, 'create'> = {
  create: (unit, id, body) => recordExternalSale(unit, id, body),
}
