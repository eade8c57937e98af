import { defineEntity, p } from '@mikro-orm/core'
import { id, instant, newestIndex, searchExpression, tenantKey } from './columns.ts'

/** Without an index for `q`, because events are inserted far more often than they are searched. */
export const eventSearch = searchExpression('type', 'entity_id', 'website_id')

/**
 * The condition of every list of events: only those before the oldest open transaction of the database. No
 * later commit adds an event before them, so a reader that continues from the last position misses none.
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
    /** The first id of the payload. */
    entityId: id(),
    /** The record's own clock. */
    eventTime: instant(),
    /** The exact text that is hashed, signed and sent on every attempt. */
    payload: p.text(),
    createdTime: instant(),
    updatedTime: instant().defaultRaw('now()'),
    revision: p.integer().default(1),
    /** The writing transaction's id in the upper 43 bits, then the ordinal within it (`COMMITTED_EVENTS`). */
    position: p.bigint('string'),
  },
})

export class Event extends EventSchema.class {}
EventSchema.setClass(Event)
