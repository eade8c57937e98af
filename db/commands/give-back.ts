/** Money that has to go back because what it paid will not be delivered: the refund is decided with the reason for it. */
import { Decimal } from 'decimal.js'
import { Transaction } from '../entities/index.ts'
import { newId } from '../ids.ts'
import { lockRow } from '../lock-row.ts'
import type { OrderRecord } from '../order-record.ts'
import { statement } from '../statement.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

/**
 * Starts the refunds of invoices that were voided after money had come in. They are made by the workflow of each refund;
 * what was paid outside of this service is not for it to give back.
 */
export async function giveBack(unit: UnitOfWork, { row, invoices, toRefund }: OrderRecord): Promise<void> {
  if (toRefund.size === 0) return
  const { em, organizationId } = unit
  await em.flush()
  for (const sequence of toRefund) {
    const invoiceId = invoices.get(sequence)?.id ?? ''
    const sales = await statement<{ id: string }>(
      em,
      `select id from transactions where organization_id = ? and customer_id = ? and type = 'sale'
          and gateway is not null and payments ->> ? is not null order by id`,
      [organizationId, row.customerId, invoiceId],
    )
    for (const { id } of sales) {
      const sale = await lockRow(unit, Transaction, id)
      if (sale === null) continue
      const left = new Decimal(sale.amount).minus(await refundsOf(unit, id))
      const amount = Decimal.min(left, sale.payments?.[invoiceId] ?? 0)
      if (amount.greaterThan(0)) addRefund(unit, sale, amount.toFixed())
      await em.flush()
    }
  }
  toRefund.clear()
}

/** Sum of a sale's refunds that were not declined, those under way included. The sale's row is locked. */
export async function refundsOf(
  { em, organizationId }: UnitOfWork,
  parentTransactionId: string,
): Promise<string> {
  const [row] = await statement<{ sum: string }>(
    em,
    `select coalesce(sum(amount), 0)::text as sum from transactions
      where organization_id = ? and parent_transaction_id = ? and result is distinct from 'declined'`,
    [organizationId, parentTransactionId],
  )
  return row?.sum ?? '0'
}

/** Adds a refund of a sale that the refund's own workflow makes at once. */
export function addRefund(unit: UnitOfWork, sale: Transaction, amount: string): Transaction {
  const { em, now } = unit
  const id = newId('txn')
  const refund = em.create(Transaction, {
    organizationId: unit.organizationId,
    id,
    type: 'refund',
    customerId: sale.customerId,
    currency: sale.currency,
    amount,
    paymentInstruction: sale.paymentInstruction,
    parentTransactionId: sale.id,
    invoiceIds: [],
    gateway: sale.gateway ?? null,
    gatewayReference: sale.gatewayReference ?? null,
    cardFingerprint: sale.cardFingerprint ?? null,
    status: 'pending',
    result: null,
    requestId: id,
    nextInquiryTime: now,
    revision: 1,
    createdTime: now,
    updatedTime: now,
  })
  em.persist(refund)
  unit.wake('transaction', id)
  return refund
}
