/** Entries of timelines, and what they refer to. */
import type { TimelineEntry } from '../db/entities/index.ts'

/** Returns an entry as a timeline at `url` shows it. */
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

/** The records of the entry that the interface can name here: its customer and credit memo are none of them. */
function linksOf({ subscriptionId, invoiceId, transactionId }: TimelineEntry) {
  return Object.entries({
    subscription: subscriptionId,
    invoice: invoiceId,
    transaction: transactionId,
  }).flatMap(([resourceType, resourceId]) => (resourceId == null ? [] : [{ resourceType, resourceId }]))
}
