import { amountDue, type Invoice as InvoiceState } from '../../billing/invoices.ts'
import { Money } from '../../billing/money.ts'
import type { Invoice, Subscription, Transaction } from '../../db/entities/index.ts'
import type { ChargeRoute } from '../orders/choose-instrument.ts'

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

/** An automatic charge of an invoice, pending until its outcome is known. */
export function chargeOf(
  payer: Pick<Subscription | Invoice, 'customerId' | 'currency' | 'websiteId' | 'billingAddress'>,
  route: ChargeRoute,
  invoice: Invoice,
  state: InvoiceState,
) {
  const amount = amountDue(state)
  if (!new Money(amount).greaterThan(0)) throw new Error(`a charge of ${amount} was begun`)
  return {
    type: 'sale' as const,
    customerId: payer.customerId,
    currency: payer.currency,
    amount,
    paymentInstruction: { paymentInstrumentId: route.paymentInstrumentId },
    invoiceIds: [invoice.id],
    gateway: route.gateway,
    gatewayReference: route.gatewayReference,
    cardFingerprint: route.cardFingerprint,
    bin: route.bin,
    declineClass: route.isExpired ? ('hard' as const) : null,
    ...aboutInvoices([invoice]),
    websiteId: payer.websiteId,
    retryNumber: state.attempts - 1,
    billingAddress: payer.billingAddress ?? route.billingAddress,
    childTransactions: [],
    undelivered: [],
    status: 'pending' as const,
    result: null,
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
