import { defineEntity, p } from '@mikro-orm/core'
import { id, instant, tenantKey } from './columns.ts'

const EventSchema = defineEntity({
  name: 'Event',
  tableName: 'events',
  indexes: [{ name: 'events_created_index', properties: ['organizationId', 'createdTime'] }],
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
  },
})

/** Something that happened, written in the transaction that made it happen. */
export class Event extends EventSchema.class {}
EventSchema.setClass(Event)
