import { splitReference } from '../billing/gateway-references.ts'
import { jsonAmount } from '../billing/money.ts'
import { takesMoney } from '../billing/transactions.ts'
import type { Transaction } from '../db/entities/index.ts'
import { presentContact } from './contact.ts'
import { type Link, resourceUrl } from './links.ts'

export function presentTransaction(transaction: Transaction, baseUrl: string) {
  const { dispute } = transaction
  const amount = jsonAmount(transaction.amount)
  const { currency, paymentInstruction } = transaction
  return {
    id: transaction.id,
    organizationId: transaction.organizationId,
    type: transaction.type,
    websiteId: transaction.websiteId ?? null,
    customerId: transaction.customerId,
    currency,
    amount,
    purchaseAmount: amount,
    purchaseCurrency: currency,
    requestAmount: amount,
    requestCurrency: currency,
    paymentInstruction,
    method: 'method' in paymentInstruction ? paymentInstruction.method : ('payment-card' as const),
    paymentInstrument:
      'paymentInstrumentId' in paymentInstruction
        ? {
            method: 'payment-card' as const,
            paymentInstrumentId: paymentInstruction.paymentInstrumentId,
          }
        : null,
    bin: transaction.bin ?? null,
    billingAddress: presentContact(transaction.billingAddress),
    parentTransactionId: transaction.parentTransactionId ?? null,
    childTransactions: transaction.childTransactions,
    invoiceIds: transaction.invoiceIds,
    subscriptionIds: transaction.subscriptionIds,
    planIds: transaction.planIds,
    orderId: transaction.subscriptionIds[0] ?? null,
    isRebill: transaction.isRebill,
    rebillNumber: transaction.rebillNumber ?? null,
    retryNumber: transaction.retryNumber,
    isRetry: transaction.retryNumber > 0,
    isMerchantInitiated: transaction.subscriptionId != null || transaction.isMerchantInitiated,
    isProcessedOutside: transaction.gateway == null,
    description: transaction.description ?? null,
    customFields: transaction.customFields ?? {},
    riskMetadata: transaction.riskMetadata ?? null,
    has3ds: transaction.approvalUrl != null,
    redirectUrl: transaction.redirectUrl ?? null,
    status: shownStatus(transaction),
    result: transaction.result ?? null,
    gatewayName: transaction.gateway ?? null,
    gatewayAccountId: accountOf(transaction),
    gatewayTransactionId: transaction.gatewayTransactionId ?? null,
    gateway: transaction.gateway == null ? null : gatewayResponse(transaction),
    requestId: transaction.requestId ?? null,
    rawResponse: transaction.rawResponse ?? null,
    authorizationExpiryTime: transaction.authorizationExpiryTime?.toISOString() ?? null,
    processedTime: transaction.processedTime?.toISOString() ?? null,
    nextInquiryTime: transaction.nextInquiryTime?.toISOString() ?? null,
    isDisputed: dispute?.isOpen ?? false,
    disputeTime: dispute == null ? null : new Date(dispute.time).toISOString(),
    disputeStatus: dispute?.status ?? null,
    revision: transaction.revision,
    createdTime: transaction.createdTime.toISOString(),
    updatedTime: transaction.updatedTime.toISOString(),
    _links: linksOf(transaction, baseUrl),
  }
}

function shownStatus(transaction: Transaction) {
  if (transaction.dispute?.isOpen === true) return 'disputed' as const
  if (transaction.status === 'waiting-capture' && transaction.isExpired === true) return 'voided' as const
  return waitsForCustomer(transaction) ? ('waiting-approval' as const) : transaction.status
}

function waitsForCustomer({ status, approvalUrl }: Pick<Transaction, 'status' | 'approvalUrl'>): boolean {
  return status === 'pending' && approvalUrl != null
}

function linksOf(transaction: Transaction, baseUrl: string): Link[] {
  const url = (...segments: string[]) => resourceUrl(baseUrl, transaction.organizationId, ...segments)
  const to = (rel: string, path: string, id: string | null | undefined): Link[] =>
    id == null ? [] : [{ rel, href: url(path, id) }]
  const { paymentInstruction } = transaction
  return [
    { rel: 'self', href: url('transactions', transaction.id) },
    { rel: 'customer', href: url('customers', transaction.customerId) },
    ...to('website', 'websites', transaction.websiteId),
    ...('paymentInstrumentId' in paymentInstruction
      ? to('paymentCard', 'payment-instruments', paymentInstruction.paymentInstrumentId)
      : []),
    ...to('gatewayAccount', 'gateway-accounts', accountOf(transaction)),
    ...to('parentTransaction', 'transactions', transaction.parentTransactionId),
    ...transaction.invoiceIds.flatMap((id) => to('invoice', 'invoices', id)),
    ...(waitsForCustomer(transaction) && transaction.approvalUrl != null
      ? [{ rel: 'approvalUrl', href: transaction.approvalUrl }]
      : []),
    { rel: 'queryUrl', href: url('transactions', transaction.id, 'query') },
    ...(takesMoney(transaction.type)
      ? [{ rel: 'refundUrl', href: url('transactions', transaction.id, 'refund') }]
      : []),
  ]
}

export function accountOf({ gatewayReference }: Pick<Transaction, 'gatewayReference'>): string | null {
  return splitReference(gatewayReference ?? '')?.account ?? null
}

function gatewayResponse({ rawResponse, declineClass }: Pick<Transaction, 'rawResponse' | 'declineClass'>) {
  const reason = reasonOf(rawResponse ?? null)
  return {
    response: {
      code: declineClass ?? null,
      message: null,
      type: null,
      originalCode: reason,
      originalMessage: null,
    },
    avsResponse: null,
    cvvResponse: null,
  }
}

function reasonOf(raw: string | null): string | null {
  try {
    const { reason = null } = JSON.parse(raw ?? '{}') as { reason?: unknown }
    return typeof reason === 'string' ? reason : null
  } catch {
    return null
  }
}
