import { jsonAmount } from '../billing/money.ts'
import type { Invoice } from '../db/entities/index.ts'
import { type Link, resourceUrl } from './links.ts'

export function invoiceLinks(invoice: Invoice, baseUrl: string): Link[] {
  const url = (...segments: string[]) => resourceUrl(baseUrl, invoice.organizationId, ...segments)
  return [
    { rel: 'self', href: url('invoices', invoice.id) },
    { rel: 'subscription', href: url('subscriptions', invoice.subscriptionId) },
    { rel: 'customer', href: url('customers', invoice.customerId) },
    { rel: 'website', href: url('websites', invoice.websiteId) },
  ]
}

export function presentInvoice(invoice: Invoice, baseUrl: string) {
  return {
    id: invoice.id,
    subscriptionId: invoice.subscriptionId,
    customerId: invoice.customerId,
    websiteId: invoice.websiteId,
    type: invoice.type,
    status: invoice.status,
    currency: invoice.currency,
    amount: jsonAmount(invoice.amount),
    amountDue: jsonAmount(invoice.amountDue),
    items: invoice.lines.map((line) => ({ ...line, amount: jsonAmount(line.amount) })),
    discounts: [],
    periodNumber: invoice.periodNumber ?? null,
    periodStart: invoice.periodStart?.toISOString() ?? null,
    periodEnd: invoice.periodEnd?.toISOString() ?? null,
    issuedTime: invoice.issuedTime?.toISOString() ?? null,
    dueTime: invoice.dueTime?.toISOString() ?? null,
    delinquencyTime: invoice.delinquencyTime?.toISOString() ?? null,
    paidTime: invoice.paidTime?.toISOString() ?? null,
    voidedTime: invoice.voidedTime?.toISOString() ?? null,
    autopayRetryNumber: invoice.autopayRetryNumber,
    poNumber: invoice.poNumber ?? null,
    notes: invoice.notes ?? null,
    revision: invoice.revision,
    createdTime: invoice.createdTime.toISOString(),
    updatedTime: invoice.updatedTime.toISOString(),
    _links: invoiceLinks(invoice, baseUrl),
  }
}
