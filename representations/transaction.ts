import { jsonAmount } from '../billing/money.ts'
import type { Transaction } from '../db/entities/index.ts'
import { type Link, resourceUrl } from './links.ts'

export function presentTransaction(transaction: Transaction, baseUrl: string) {
  const url = (...segments: string[]) => resourceUrl(baseUrl, transaction.organizationId, ...segments)
  const links: Link[] = [
    { rel: 'self', href: url('transactions', transaction.id) },
    { rel: 'customer', href: url('customers', transaction.customerId) },
    ...(transaction.parentTransactionId == null
      ? []
      : [{ rel: 'parentTransaction', href: url('transactions', transaction.parentTransactionId) }]),
    ...transaction.invoiceIds.map((id) => ({ rel: 'invoice', href: url('invoices', id) })),
  ]
  return {
    id: transaction.id,
    type: transaction.type,
    customerId: transaction.customerId,
    currency: transaction.currency,
    amount: jsonAmount(transaction.amount),
    paymentInstruction: transaction.paymentInstruction,
    parentTransactionId: transaction.parentTransactionId ?? null,
    invoiceIds: transaction.invoiceIds,
    status: transaction.status,
    result: transaction.result ?? null,
    gateway: transaction.gateway ?? null,
    requestId: transaction.requestId ?? null,
    rawResponse: transaction.rawResponse ?? null,
    nextInquiryTime: transaction.nextInquiryTime?.toISOString() ?? null,
    revision: transaction.revision,
    createdTime: transaction.createdTime.toISOString(),
    updatedTime: transaction.updatedTime.toISOString(),
    _links: links,
  }
}
