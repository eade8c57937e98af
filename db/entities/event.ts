import { defineEntity, p } from '@mikro-orm/core'
import { id, instant, newestIndex, searchExpression, tenantKey } from './columns.ts'

/** What `q` searches; by no index of its own, for events come faster than they are looked for. */
export const eventSearch = searchExpression('type', 'entity_id', 'website_id')

const EventSchema = defineEntity({
  name: 'Event',
  tableName: 'events',
  indexes: [newestIndex('events')],
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
  },
})

/** Something that happened, written in the transaction that made it happen. */
export class Event extends EventSchema.class {}
EventSchema.setClass(Event)
