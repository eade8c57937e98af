import { defineEntity, p } from '@mikro-orm/core'
import { id, instant, newestIndex, searchExpression, tenantKey } from './columns.ts'

/** Without an index for `q`, because events are inserted far more often than they are searched. */
export const eventSearch = searchExpression('type', 'entity_id', 'website_id')

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
    /** In this order no event comes before one that a list has returned (`db/event-positions.ts`). */
    position: p.bigint('string'),
  },
})

export class Event extends EventSchema.class {}
EventSchema.setClass(Event)
