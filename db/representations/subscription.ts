import type { Subscription } from '../entities/index.ts'
import { type Link, resourceUrl } from './links.ts'

/** Addresses of an order and of what it refers to. */
export function subscriptionLinks(order: Subscription, baseUrl: string): Link[] {
  const url = (...segments: string[]) => resourceUrl(baseUrl, order.organizationId, ...segments)
  return [
    { rel: 'self', href: url('subscriptions', order.id) },
    { rel: 'customer', href: url('customers', order.customerId) },
    { rel: 'website', href: url('websites', order.websiteId) },
  ]
}

/** An order as the API and events show it. */
export function presentSubscription(order: Subscription, baseUrl: string) {
  return {
    id: order.id,
    orderId: order.id,
    orderType: 'subscription-order' as const,
    organizationId: order.organizationId,
    customerId: order.customerId,
    websiteId: order.websiteId,
    items: order.items.map((item) => ({ id: item.id, plan: item.plan, quantity: item.quantity })),
    status: order.status,
    currency: order.currency,
    autopay: order.autopay,
    startTime: order.startTime.toISOString(),
    activationTime: order.activationTime?.toISOString() ?? null,
    abandonTime: order.abandonTime?.toISOString() ?? null,
    poNumber: order.poNumber ?? null,
    notes: order.notes ?? null,
    customFields: order.customFields ?? {},
    clockOffset: order.clockOffset / 1000,
    revision: order.revision,
    createdTime: order.createdTime.toISOString(),
    updatedTime: order.updatedTime.toISOString(),
    _links: subscriptionLinks(order, baseUrl),
  }
}
