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
 * what was paid outside of this service is not for it to give back. Locks the sales that paid, in the order of their ids:
 * whoever calls has locked every order it will, for one sale may have paid invoices of several.
 */
export async function giveBack(unit: UnitOfWork, records: readonly OrderRecord[]): Promise<void> {
  const voided = records.flatMap(({ row, invoices, toRefund }) =>
    [...toRefund].map((sequence) => ({
      customerId: row.customerId,
      invoiceId: invoices.get(sequence)?.id ?? '',
    })),
  )
  if (voided.length === 0) return
  for (const { toRefund } of records) toRefund.clear()
  const { em, organizationId } = unit
  await em.flush()
  const sales = await statement<{ id: string }>(
    em,
    `select sale.id from transactions sale
      where sale.organization_id = ? and sale.type = 'sale' and sale.gateway is not null
        and sale.customer_id in (select jsonb_array_elements_text(?::jsonb))
        and exists (select from jsonb_array_elements_text(?::jsonb) invoice(id)
              where sale.payments ->> invoice.id is not null)
      order by sale.id`,
    [
      organizationId,
      JSON.stringify([...new Set(voided.map(({ customerId }) => customerId))]),
      JSON.stringify(voided.map(({ invoiceId }) => invoiceId)),
    ],
  )
  for (const { id } of sales) {
    const sale = await lockRow(unit, Transaction, id)
    if (sale === null) continue
    for (const { invoiceId } of voided) {
      const left = new Decimal(sale.amount).minus(await refundsOf(unit, id))
      const amount = Decimal.min(left, sale.payments?.[invoiceId] ?? 0)
      if (!amount.greaterThan(0)) continue
      addRefund(unit, sale, amount.toFixed())
      await em.flush()
    }
  }
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
