/** Money that has to go back because what it paid will not be delivered: the refund is decided with the reason for it. */
import { isZero } from '../../billing/money.ts'
import { leftOfInvoice, type Paid, type Return } from '../../billing/refunds.ts'
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
    'find-charged-sales',
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
      const amount = leftOfInvoice(paidOf(sale), await returnsOf(unit, id), invoiceId)
      if (isZero(amount)) continue
      addRefund(unit, sale, amount, { [invoiceId]: amount })
      await em.flush()
    }
  }
}

/** What a sale paid, as the rules of refunds read it. */
export function paidOf({ amount, payments, invoiceIds }: Transaction): Paid {
  // The order of the ids is that of payment; the columns of a JSON object have none.
  return {
    amount,
    payments: invoiceIds.flatMap((id) => {
      const got = payments?.[id]
      return got === undefined ? [] : [[id, got] as const]
    }),
  }
}

/** A sale's refunds that were not declined, those under way included. The sale's row is locked. */
export async function returnsOf(
  { em, organizationId }: UnitOfWork,
  parentTransactionId: string,
): Promise<Return[]> {
  return await statement<{ amount: string; shares: Record<string, string> }>(
    em,
    'read-given-back',
    `select amount::text as amount, shares from transactions
      where organization_id = ? and parent_transaction_id = ? and result is distinct from 'declined'`,
    [organizationId, parentTransactionId],
  )
}

/** Adds a refund of a sale that the refund's own workflow makes at once; `shares` is what of it is of which invoice. */
export function addRefund(
  unit: UnitOfWork,
  sale: Transaction,
  amount: string,
  shares: Readonly<Record<string, string>>,
): Transaction {
  const id = newId('txn')
  const refund = unit.create(Transaction, {
    id,
    type: 'refund',
    customerId: sale.customerId,
    currency: sale.currency,
    amount,
    paymentInstruction: sale.paymentInstruction,
    parentTransactionId: sale.id,
    invoiceIds: [],
    shares: { ...shares },
    gateway: sale.gateway ?? null,
    gatewayReference: sale.gatewayReference ?? null,
    cardFingerprint: sale.cardFingerprint ?? null,
    status: 'pending',
    result: null,
    requestId: id,
    nextInquiryTime: unit.now,
  })
  unit.follow('transaction', id, {
    dueBy: unit.now,
    gatewayCall: true,
    attributes: { status: 'unknown', customerId: sale.customerId },
  })
  return refund
}
