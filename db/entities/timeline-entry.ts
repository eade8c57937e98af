import { defineEntity, p } from '@mikro-orm/core'
import type { EventType } from '../../billing/event-types.ts'
import type { Cause } from '../../billing/order.ts'
import { id, instant, resourceColumns, searchExpression, tenantKey } from './columns.ts'

export const timelineSearch = searchExpression('type', 'cause', 'message')

const TimelineEntrySchema = defineEntity({
  name: 'TimelineEntry',
  tableName: 'timeline_entries',
  indexes: [
    {
      name: 'timeline_entries_order_index',
      properties: ['organizationId', 'subscriptionId', 'occurredTime'],
    },
  ],
  properties: {
    ...tenantKey,
    subscriptionId: id(),
    type: p.string().length(50).$type<EventType>(),
    occurredTime: instant(),
    cause: p.string().length(20).$type<Cause>(),
    message: p.text(),
    ...resourceColumns,
  },
})

export class TimelineEntry extends TimelineEntrySchema.class {}
TimelineEntrySchema.setClass(TimelineEntry)
