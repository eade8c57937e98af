import { amountProblem } from '../../billing/money.ts'
import { Customer, Transaction } from '../entities/index.ts'
import { references } from '../references.ts'
import { presentTransaction } from '../representations/transaction.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

export interface ExternalSale {
  readonly customerId: string
  readonly currency: string
  readonly amount: number
}

/**
 * Records a sale that was paid outside of this service: approved as it comes. Emits `transaction-processed`.
 *
 * @throws InvalidFieldsError naming an unknown customer, or an amount the currency does not have.
 */
export async function recordExternalSale(
  unit: UnitOfWork,
  id: string,
  sale: ExternalSale,
): Promise<Transaction> {
  const found = references(unit)
  const customer = await found.required(Customer, 'customerId', sale.customerId)
  const problem = amountProblem(sale.amount, sale.currency)
  if (problem !== null) found.fail('amount', problem)
  found.check()
  const transaction = unit.em.create(Transaction, {
    organizationId: unit.organizationId,
    id,
    type: 'sale',
    customerId: sale.customerId,
    currency: sale.currency,
    amount: String(sale.amount),
    paymentInstruction: { method: 'external' },
    result: 'approved',
    revision: 1,
    createdTime: unit.now,
    updatedTime: unit.now,
  })
  unit.em.persist(transaction)
  const shown = presentTransaction(transaction, unit.baseUrl)
  unit.emit({
    type: 'transaction-processed',
    time: unit.now,
    websiteId: customer?.websiteId ?? null,
    ids: { transactionId: id },
    embedded: { transaction: shown },
    links: shown._links.map((link) => (link.rel === 'self' ? { ...link, rel: 'transaction' } : link)),
  })
  return transaction
}
