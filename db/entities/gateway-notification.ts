import { defineEntity, p } from '@mikro-orm/core'
import { id, instant, json } from './columns.ts'

/** `ignored`: about no record of the service; `superseded`: a later one of the object was applied before. */
export type GatewayNotificationStatus = 'received' | 'applied' | 'ignored' | 'superseded'

const GatewayNotificationSchema = defineEntity({
  name: 'GatewayNotification',
  tableName: 'gateway_notifications',
  indexes: [
    {
      name: 'gateway_notifications_due_index',
      expression:
        'create index "gateway_notifications_due_index" on "gateway_notifications" ("organization_id", "due_time") where "status" = \'received\'',
    },
    {
      name: 'gateway_notifications_record_index',
      properties: ['organizationId', 'gatewayAccountId', 'record'],
    },
    { name: 'gateway_notifications_received_index', properties: ['receivedTime'] },
  ],
  properties: {
    organizationId: id().primary(),
    gatewayAccountId: id().primary(),
    /** The provider's id: what it sends again is not stored again. */
    id: p.string().length(255).primary(),
    type: p.string().length(100),
    /** The charge, card or account that it is about, by the provider's id. */
    record: p.string().length(255),
    /** The object that it shows, by the provider's id. */
    object: p.string().length(255),
    /** By the provider's clock. */
    occurredTime: instant(),
    /** Orders those of one instant. */
    rank: p.smallint(),
    /** What it says (`gateways/notifications.ts`), without anything personal. */
    content: json<{ readonly kind: string }>(),
    status: p.string().length(12).$type<GatewayNotificationStatus>(),
    failures: p.integer().default(0),
    failure: p.string().length(500).nullable(),
    /** When it is processed; null: it was. */
    dueTime: instant().nullable(),
    processedTime: instant().nullable(),
    receivedTime: instant(),
  },
})

export class GatewayNotification extends GatewayNotificationSchema.class {}
GatewayNotificationSchema.setClass(GatewayNotification)
