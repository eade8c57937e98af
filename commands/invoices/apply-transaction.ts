import { ConflictError, refuse } from '../../billing/errors.ts'
import { amountDue, isOpen } from '../../billing/invoices.ts'
import { amountProblem, isZero, Money } from '../../billing/money.ts'
import { requireNoCharge } from '../../billing/order-payments.ts'
import { unusedOf } from '../../billing/refund-shares.ts'
import { MOST_INVOICES, takesMoney } from '../../billing/transactions.ts'
import { type Invoice, Transaction } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { orderInstant } from '../orders/order-instant.ts'
import { lockInvoices, payFromRest } from '../payments/apply-payment.ts'
import { paidOf, refundsOf } from '../payments/refund-sales.ts'

/**
 * Pays an open invoice with `amount` (a decimal string) of what no invoice uses of an approved sale or capture, or for
 * null with as much as is due and left. Throws InvalidFieldsError, or ConflictError for an invoice that is
 * not open or is being charged, and for a sale that pays the most invoices already.
 */
export async function applyTransaction(
  unit: UnitOfWork,
  invoiceId: string,
  { transactionId, amount }: { readonly transactionId: string; readonly amount: string | null },
): Promise<Invoice> {
  const [invoice] = await lockInvoices(unit, [invoiceId], (row) => orderInstant(unit, row))
  const state = invoice?.record.order.invoices.find(({ sequence }) => sequence === invoice.sequence)
  if (invoice === undefined || state === undefined || !isOpen(state))
    throw new ConflictError(
      'The invoice is not open: only one that is unpaid, past due or partially paid can be paid.',
    )
  requireNoCharge(state)
  const { customerId, currency } = invoice.row
  const field = 'transactionId'
  const sale = await lockRow(unit, Transaction, transactionId)
  if (sale === null) refuse(field, 'not-found', 'must be the id of an existing transaction')
  if (!takesMoney(sale.type) || sale.result !== 'approved')
    refuse(field, 'inactive', 'must be an approved sale or capture')
  if (sale.customerId !== customerId)
    refuse(field, 'mismatch', 'must be a sale to the customer of the invoice')
  if (sale.currency !== currency)
    refuse(field, 'mismatch', `must have the currency of the invoice: ${currency}`)
  const left = unusedOf(paidOf(sale), await refundsOf(unit, sale.id))
  if (isZero(left)) refuse(field, 'inactive', 'must have an amount that is neither used nor refunded')
  const due = amountDue(state)
  const used = amount ?? Money.min(due, left).toFixed()
  const problem = amountProblem(used, currency)
  if (problem !== null) refuse('amount', problem.code, problem.message)
  if (new Money(used).greaterThan(due))
    refuse('amount', 'out-of-range', `must not exceed what is due: ${due}`)
  if (new Money(used).greaterThan(left))
    refuse('amount', 'out-of-range', `must not exceed what the transaction has left: ${left}`)
  if (!sale.invoiceIds.includes(invoiceId) && sale.invoiceIds.length >= MOST_INVOICES)
    throw new ConflictError(`A transaction pays at most ${MOST_INVOICES} invoices.`)
  await payFromRest(unit, sale, invoice, used)
  return invoice.row
}
