import type { EventType } from '../billing/event-types.ts'
import type { Subscription } from './entities/index.ts'
import type { NewEvent } from './events.ts'
import { presentSubscription, subscriptionLinks } from './representations/subscription.ts'

/** An event about an order, holding the order as it stands at this moment. */
export function subscriptionEvent(
  order: Subscription,
  type: EventType,
  time: Date,
  baseUrl: string,
): NewEvent {
  return {
    type,
    time,
    websiteId: order.websiteId,
    ids: { subscriptionId: order.id },
    embedded: { subscription: presentSubscription(order, baseUrl) },
    links: subscriptionLinks(order, baseUrl).map((link) =>
      link.rel === 'self' ? { ...link, rel: 'subscription' } : link,
    ),
  }
}
