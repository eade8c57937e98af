import { type CreditAllocation, creditMemoItemPrice } from '../billing/credit-memos.ts'
import { jsonAmount } from '../billing/money.ts'
import type { CreditMemo } from '../db/entities/index.ts'
import { resourceUrl } from './links.ts'

export function presentCreditMemo(memo: CreditMemo, baseUrl: string) {
  const { id, customerId, currency, invoiceId = null } = memo
  const url = (...segments: string[]) => resourceUrl(baseUrl, memo.organizationId, ...segments)
  return {
    id,
    number: memo.number,
    customerId,
    invoiceId,
    currency,
    status: memo.status,
    reason: memo.reason,
    description: memo.description,
    items: memo.items.map((item) => ({
      id: item.id,
      description: item.description,
      unitPrice: jsonAmount(item.unitPrice),
      quantity: item.quantity,
      price: jsonAmount(creditMemoItemPrice(item, currency)),
    })),
    shippingAmount: jsonAmount(memo.shippingAmount),
    taxAmount: 0,
    totalAmount: jsonAmount(memo.totalAmount),
    unusedAmount: jsonAmount(memo.unusedAmount),
    allocations: {
      invoices: memo.invoiceAllocations.map((one) => ({
        invoiceId: one.invoiceId,
        amount: jsonAmount(one.amount),
        currency,
      })),
      transactions: memo.transactionAllocations.map((one) => ({
        transactionId: one.transactionId,
        amount: jsonAmount(one.amount),
        currency,
      })),
    },
    revision: memo.revision,
    createdTime: memo.createdTime.toISOString(),
    updatedTime: memo.updatedTime.toISOString(),
    _links: [
      { rel: 'self', href: url('credit-memos', id) },
      { rel: 'customer', href: url('customers', customerId) },
      ...(invoiceId === null ? [] : [{ rel: 'invoice', href: url('invoices', invoiceId) }]),
    ],
  }
}

export function presentCreditAllocation(
  invoice: { readonly id: string; readonly currency: string; readonly amountDue: string },
  used: readonly CreditAllocation[],
) {
  return {
    invoiceId: invoice.id,
    currency: invoice.currency,
    appliedCreditMemos: used.map(({ creditMemoId, amount }) => ({
      creditMemoId,
      amount: jsonAmount(amount),
    })),
    remainingInvoiceAmount: jsonAmount(invoice.amountDue),
  }
}
