import type { Invoice, Transaction } from '../../db/entities/index.ts'

export function aboutInvoices(
  invoices: readonly Pick<Invoice, 'subscriptionId' | 'lines' | 'type' | 'periodNumber'>[],
): Pick<Transaction, 'subscriptionIds' | 'planIds' | 'isRebill' | 'rebillNumber'> {
  const [first] = invoices
  const planIds = invoices.flatMap(({ lines }) => lines.flatMap(({ planId }) => planId ?? []))
  return {
    subscriptionIds: [...new Set(invoices.flatMap(({ subscriptionId }) => subscriptionId ?? []))],
    planIds: [...new Set(planIds)],
    isRebill: first?.type === 'renewal',
    rebillNumber: first?.periodNumber ?? null,
  }
}

export function routeOfSale(sale: Transaction) {
  return {
    gateway: sale.gateway ?? null,
    gatewayReference: sale.gatewayReference ?? null,
    cardFingerprint: sale.cardFingerprint ?? null,
    bin: sale.bin ?? null,
  }
}

export function refundOf(sale: Transaction) {
  return {
    type: 'refund' as const,
    customerId: sale.customerId,
    currency: sale.currency,
    paymentInstruction: sale.paymentInstruction,
    parentTransactionId: sale.id,
    invoiceIds: [],
    ...routeOfSale(sale),
    ...inheritedBy(sale),
    childTransactions: [],
    undelivered: [],
  }
}

export function inheritedBy(sale: Transaction) {
  return {
    websiteId: sale.websiteId ?? null,
    subscriptionIds: sale.subscriptionIds,
    planIds: sale.planIds,
    isRebill: sale.isRebill,
    rebillNumber: sale.rebillNumber ?? null,
    retryNumber: 0,
    billingAddress: sale.billingAddress ?? null,
    riskMetadata: null,
  }
}
