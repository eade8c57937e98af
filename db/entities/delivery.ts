import { defineEntity, p } from '@mikro-orm/core'
import { id, instant, json, tenantKey } from './columns.ts'

/**
 * `waiting`: the dispatcher owes the first attempt. `retrying`: the webhook-delivery workflow owns the schedule.
 * The others are final.
 */
export type DeliveryStatus = 'waiting' | 'retrying' | 'delivered' | 'exhausted' | 'canceled'

const DeliverySchema = defineEntity({
  name: 'Delivery',
  tableName: 'deliveries',
  indexes: [
    {
      name: 'deliveries_waiting_index',
      expression:
        'create index "deliveries_waiting_index" on "deliveries" ("organization_id", "webhook_id", "position") where "status" = \'waiting\'',
    },
    {
      name: 'deliveries_retrying_index',
      expression:
        'create index "deliveries_retrying_index" on "deliveries" ("next_attempt_time") where "status" = \'retrying\'',
    },
    {
      name: 'deliveries_webhook_index',
      expression:
        'create index "deliveries_webhook_index" on "deliveries" ("organization_id", "webhook_id") where "status" = \'retrying\'',
    },
    { name: 'deliveries_event_index', properties: ['organizationId', 'eventId'] },
  ],
  properties: {
    ...tenantKey,
    eventId: id(),
    webhookId: id(),
    /** Event order: first attempts start in it. */
    position: p.bigint('number').autoincrement(),
    status: p.string().length(10).$type<DeliveryStatus>(),
    attempts: p.integer().default(0),
    /** A dispatcher that took this delivery answers for it until then. */
    leaseUntil: instant().nullable(),
    nextAttemptTime: instant().nullable(),
    createdTime: instant(),
  },
})

/** One event on its way to one webhook. */
export class Delivery extends DeliverySchema.class {}
DeliverySchema.setClass(Delivery)

const DeliveryAttemptSchema = defineEntity({
  name: 'DeliveryAttempt',
  tableName: 'delivery_attempts',
  uniques: [
    { name: 'delivery_attempts_number_unique', properties: ['organizationId', 'deliveryId', 'attempt'] },
  ],
  properties: {
    ...tenantKey,
    deliveryId: id(),
    /** From 1. */
    attempt: p.integer(),
    initiatedTime: instant(),
    /** Milliseconds from the start of the attempt to its outcome. */
    duration: p.integer(),
    url: p.text(),
    method: p.string().length(6),
    requestHeaders: json<Record<string, string>>(),
    /** HTTP status; null when no answer came. */
    status: p.integer().nullable(),
    responseHeaders: json<Record<string, string>>().nullable(),
    response: p.text().nullable(),
    /** Reason word; null when the attempt succeeded. */
    failure: p.string().length(40).nullable(),
  },
})

/** One try to hand an event to a receiver, and what came of it. */
export class DeliveryAttempt extends DeliveryAttemptSchema.class {}
DeliveryAttemptSchema.setClass(DeliveryAttempt)
