/** Representations of an order's cancellations, reactivations, pauses and upcoming invoice. */

import type { Invoice as InvoiceState } from '../billing/invoices.ts'
import { jsonAmount } from '../billing/money.ts'
import type {
  Subscription,
  SubscriptionCancellation,
  SubscriptionPause,
  SubscriptionReactivation,
} from '../db/entities/index.ts'
import { resourceUrl } from './links.ts'

export function presentCancellation(row: SubscriptionCancellation, baseUrl: string) {
  return {
    id: row.id,
    subscriptionId: row.subscriptionId,
    churnTime: row.churnTime.toISOString(),
    canceledBy: row.canceledBy,
    reason: row.reason ?? null,
    description: row.description ?? null,
    prorated: false,
    ...resource(row, 'subscription-cancellations', baseUrl),
  }
}

export function presentPause(row: SubscriptionPause, baseUrl: string) {
  return {
    id: row.id,
    subscriptionId: row.subscriptionId,
    status: row.status,
    effectiveTime: row.effectiveTime.toISOString(),
    endTime: row.endTime?.toISOString() ?? null,
    description: row.description ?? null,
    ...resource(row, 'subscription-pauses', baseUrl),
  }
}

export function presentReactivation(row: SubscriptionReactivation, baseUrl: string) {
  return {
    id: row.id,
    subscriptionId: row.subscriptionId,
    effectiveTime: row.effectiveTime.toISOString(),
    ...resource(row, 'subscription-reactivations', baseUrl),
  }
}

export function presentUpcomingInvoice(order: Subscription, invoice: InvoiceState) {
  const time = (instant: number | null) => (instant === null ? null : new Date(instant).toISOString())
  return {
    subscriptionId: order.id,
    customerId: order.customerId,
    websiteId: order.websiteId,
    type: invoice.type,
    status: invoice.status,
    currency: order.currency,
    amount: jsonAmount(invoice.amount),
    amountDue: jsonAmount(invoice.amount),
    items: invoice.lines.map((line) => ({ ...line, amount: jsonAmount(line.amount) })),
    discounts: [],
    periodNumber: invoice.periodNumber,
    periodStart: time(invoice.periodStart),
    periodEnd: time(invoice.periodEnd),
    issuedTime: time(invoice.issuedTime),
    dueTime: time(invoice.dueTime),
  }
}

function resource(
  row: SubscriptionCancellation | SubscriptionPause | SubscriptionReactivation,
  path: string,
  baseUrl: string,
) {
  const url = (...segments: string[]) => resourceUrl(baseUrl, row.organizationId, ...segments)
  return {
    revision: row.revision,
    createdTime: row.createdTime.toISOString(),
    updatedTime: row.updatedTime.toISOString(),
    _links: [
      { rel: 'self', href: url(path, row.id) },
      { rel: 'subscription', href: url('subscriptions', row.subscriptionId) },
    ],
  }
}
