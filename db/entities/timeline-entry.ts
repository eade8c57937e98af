import { defineEntity, p } from '@mikro-orm/core'
import type { Cause } from '../../billing/order.ts'
import { id, instant, resourceColumns, searchExpression, tenantKey } from './columns.ts'

export const timelineSearch = searchExpression('type', 'cause', 'message')

const ofRecord = (record: string) => ({
  name: `timeline_entries_${record}_index`,
  expression: `create index "timeline_entries_${record}_index" on "timeline_entries" ("organization_id", "${record}_id", "occurred_time") where "${record}_id" is not null`,
})

const TimelineEntrySchema = defineEntity({
  name: 'TimelineEntry',
  tableName: 'timeline_entries',
  indexes: ['customer', 'subscription', 'invoice', 'transaction', 'credit_memo', 'gateway_account'].map(
    ofRecord,
  ),
  properties: {
    ...tenantKey,
    /** One row for all timelines that it is in. */
    customerId: id().nullable(),
    subscriptionId: id().nullable(),
    invoiceId: id().nullable(),
    transactionId: id().nullable(),
    creditMemoId: id().nullable(),
    gatewayAccountId: id().nullable(),
    type: p.string().length(50),
    /** On the record's own clock. */
    occurredTime: instant(),
    cause: p.string().length(20).$type<Cause>(),
    message: p.text(),
    ...resourceColumns,
  },
})

export class TimelineEntry extends TimelineEntrySchema.class {}
TimelineEntrySchema.setClass(TimelineEntry)
