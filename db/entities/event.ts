import { defineEntity, p } from '@mikro-orm/core'
import { id, instant, newestIndex, searchExpression, tenantKey } from './columns.ts'

/** What `q` searches; by no index of its own, for events come faster than they are looked for. */
export const eventSearch = searchExpression('type', 'entity_id', 'website_id')

/**
 * The condition of every list of events: those of transactions before the oldest one that is still under way anywhere. A
 * later commit never adds one before them, so whoever reads on from the last position has missed none.
 */
export const COMMITTED_EVENTS = 'row.position < (pg_snapshot_xmin(pg_current_snapshot())::text::bigint << 20)'

const EventSchema = defineEntity({
  name: 'Event',
  tableName: 'events',
  indexes: [
    newestIndex('events'),
    { name: 'events_position_index', properties: ['organizationId', 'position'] },
  ],
  properties: {
    ...tenantKey,
    type: p.string().length(60),
    websiteId: id().nullable(),
    /** First id of the payload: what the event is about. */
    entityId: id(),
    /** The record's own clock. */
    eventTime: instant(),
    /** The exact text that is hashed, signed and sent, on every attempt. */
    payload: p.text(),
    createdTime: instant(),
    updatedTime: instant().defaultRaw('now()'),
    revision: p.integer().default(1),
    /**
     * Where it stands among all events: the id of the transaction that wrote it, in the upper 43 bits, then its number in
     * that transaction. In this order no event ever comes before one that a list has shown (`SETTLED_EVENTS`).
     */
    position: p.bigint('string'),
  },
})

/** Something that happened, written in the transaction that made it happen. */
export class Event extends EventSchema.class {}
EventSchema.setClass(Event)
