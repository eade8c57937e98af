import { defineEntity, p } from '@mikro-orm/core'
import {
  id,
  instant,
  json,
  newestIndex,
  quarantineColumns,
  quarantineIndex,
  searchExpression,
  tenantKey,
} from './columns.ts'

/** `waiting`: the dispatcher makes the first attempt; `retrying`: the workflow follows the schedule. */
export type DeliveryStatus = 'waiting' | 'retrying' | 'delivered' | 'exhausted' | 'canceled'

const DeliverySchema = defineEntity({
  name: 'Delivery',
  tableName: 'deliveries',
  indexes: [
    quarantineIndex('deliveries'),
    {
      name: 'deliveries_due_index',
      expression:
        'create index "deliveries_due_index" on "deliveries" ("organization_id", "webhook_id", "resend_due" desc, "position") where "status" = \'waiting\' or "resend_due"',
    },
    {
      name: 'deliveries_retrying_index',
      expression:
        'create index "deliveries_retrying_index" on "deliveries" ("next_attempt_time") where "status" = \'retrying\'',
    },
    {
      name: 'deliveries_webhook_index',
      expression:
        'create index "deliveries_webhook_index" on "deliveries" ("organization_id", "webhook_id", "position") where "status" = \'retrying\'',
    },
    { name: 'deliveries_event_index', properties: ['organizationId', 'eventId'] },
  ],
  properties: {
    ...tenantKey,
    eventId: id(),
    webhookId: id(),
    /** First attempts start in this order, that of the events. */
    position: p.bigint('number').autoincrement(),
    status: p.string().length(10).$type<DeliveryStatus>(),
    attempts: p.integer().default(0),
    /** Attempts beside the schedule. */
    resends: p.integer().default(0),
    /** A requested attempt has not been made yet. */
    resendDue: p.boolean().default(false),
    /** Another was requested while that one was under way. */
    resendAgain: p.boolean().default(false),
    leaseUntil: instant().nullable(),
    leaseOwner: id().nullable(),
    nextAttemptTime: instant().nullable(),
    /** When it reached a final status; real time. */
    endedTime: instant().nullable(),
    ...quarantineColumns,
    createdTime: instant(),
  },
})

export class Delivery extends DeliverySchema.class {}
DeliverySchema.setClass(Delivery)

/** Without an index for `q`, because attempts are inserted far more often than they are searched. */
export const deliveryAttemptSearch = searchExpression(
  'delivery_id',
  'event_id',
  'event_type',
  'entity_id',
  'webhook_id',
  'url',
  'failure',
)

const DeliveryAttemptSchema = defineEntity({
  name: 'DeliveryAttempt',
  tableName: 'delivery_attempts',
  indexes: [newestIndex('delivery_attempts')],
  uniques: [
    { name: 'delivery_attempts_number_unique', properties: ['organizationId', 'deliveryId', 'attempt'] },
  ],
  properties: {
    ...tenantKey,
    deliveryId: id(),
    webhookId: id().default(''),
    eventId: id().default(''),
    eventType: p.string().length(60).default(''),
    entityId: id().default(''),
    attempt: p.integer(),
    initiatedTime: instant(),
    sentTime: instant().nullable(),
    /** Milliseconds. */
    duration: p.integer(),
    url: p.text(),
    method: p.string().length(6),
    requestHeaders: json<Record<string, string>>(),
    status: p.integer().nullable(),
    responseHeaders: json<Record<string, string>>().nullable(),
    response: p.text().nullable(),
    /** Reason code; null when the attempt succeeded. */
    failure: p.string().length(40).nullable(),
    createdTime: instant().defaultRaw('now()'),
    updatedTime: instant().defaultRaw('now()'),
    revision: p.integer().default(1),
  },
})

export class DeliveryAttempt extends DeliveryAttemptSchema.class {}
DeliveryAttemptSchema.setClass(DeliveryAttempt)
