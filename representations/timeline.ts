import type { TimelineEntry } from '../db/entities/index.ts'

/** `url` is that of the timeline. */
export function presentTimelineEntry(entry: TimelineEntry, url: string) {
  return {
    id: entry.id,
    type: entry.type,
    triggeredBy: entry.cause === 'api' ? ('direct-api' as const) : ('rebilly-side' as const),
    cause: entry.cause,
    message: entry.message,
    extraData: { actions: [], tables: [], mentions: {}, links: linksOf(entry) },
    occurredTime: entry.occurredTime.toISOString(),
    revision: entry.revision,
    createdTime: entry.createdTime.toISOString(),
    updatedTime: entry.updatedTime.toISOString(),
    _links: [{ rel: 'self', href: `${url}/${encodeURIComponent(entry.id)}` }],
  }
}

/** The interface names neither the customer nor the credit memo here. */
function linksOf({ subscriptionId, invoiceId, transactionId }: TimelineEntry) {
  return Object.entries({
    subscription: subscriptionId,
    invoice: invoiceId,
    transaction: transactionId,
  }).flatMap(([resourceType, resourceId]) => (resourceId == null ? [] : [{ resourceType, resourceId }]))
}
