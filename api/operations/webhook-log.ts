import { resendDelivery } from '../../commands/webhooks/resend-delivery.ts'
import { deliveryAttemptSearch } from '../../db/entities/delivery.ts'
import { eventSearch } from '../../db/entities/event.ts'
import { Delivery, DeliveryAttempt, Event as EventRow, Webhook } from '../../db/entities/index.ts'
import { COMMITTED_EVENTS } from '../../db/event-positions.ts'
import { presentDeliveryAttempt } from '../../representations/delivery-attempt.ts'
import { presentEvent } from '../../representations/event.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { fieldsOf } from '../query/fields.ts'
import { notFound, type Resource } from '../resources/resource.ts'
import { Event, WebhookTracking } from '../schemas/webhook-log.ts'

export const webhookTracking: Resource<DeliveryAttempt> = {
  name: 'WebhookTracking',
  label: 'delivery attempt',
  path: 'tracking/webhooks',
  schema: WebhookTracking,
  entity: DeliveryAttempt,
  table: 'delivery_attempts',
  search: deliveryAttemptSearch,
  fields: fieldsOf(WebhookTracking, {
    source: { sql: "'webhooks'::text", type: 'text', folded: 'lower', always: true },
    request: null,
  }),
  present: async (row, context) => (await presentAttempts([row], context))[0] ?? {},
  presentPage: presentAttempts,
}

export const events: Resource<EventRow> = {
  name: 'Event',
  label: 'event',
  path: 'events',
  schema: Event,
  entity: EventRow,
  table: 'events',
  search: eventSearch,
  listed: COMMITTED_EVENTS,
  fields: fieldsOf(Event, {
    eventType: { sql: 'row.type', type: 'text', always: true },
    position: { sql: 'row.position', type: 'number', whole: true, always: true },
  }),
  // Its deliveries go on, and the event stays as it is.
  isVolatile: () => true,
  present: async (row, context) => (await presentEvents([row], context))[0] ?? {},
  presentPage: presentEvents,
}

export async function resendWebhook(context: OperationContext): Promise<OperationResponse> {
  const { organizationId, params } = context
  const id = params.id ?? ''
  return await context.commit(async (unit) => {
    const attempt = await unit.em.findOne(DeliveryAttempt, { organizationId, id })
    if (attempt === null || !(await resendDelivery(unit, attempt.deliveryId)))
      throw notFound(webhookTracking, id)
    return {}
  })
}

async function presentAttempts(
  rows: readonly DeliveryAttempt[],
  { em, organizationId, baseUrl }: OperationContext,
): Promise<object[]> {
  const ids = [...new Set(rows.map(({ eventId }) => eventId))]
  const found = await em.find(
    EventRow,
    { organizationId, id: { $in: ids } },
    { fields: ['id', 'payload'], disableIdentityMap: true },
  )
  const payloads = new Map(found.map(({ id, payload }) => [id, payload]))
  return rows.map((row) => presentDeliveryAttempt(row, payloads.get(row.eventId) ?? null, baseUrl))
}

async function presentEvents(
  rows: readonly EventRow[],
  { em, organizationId, baseUrl }: OperationContext,
): Promise<object[]> {
  const deliveries = await em.find(
    Delivery,
    { organizationId, eventId: { $in: rows.map(({ id }) => id) } },
    { orderBy: { position: 'asc' }, disableIdentityMap: true },
  )
  const found = await em.find(
    Webhook,
    { organizationId, id: { $in: [...new Set(deliveries.map(({ webhookId }) => webhookId))] } },
    { fields: ['id', 'status', 'canceledThrough'], disableIdentityMap: true },
  )
  const webhooks = new Map(found.map((webhook) => [webhook.id, webhook]))
  const byEvent = Map.groupBy(deliveries, ({ eventId }) => eventId)
  return rows.map((row) => presentEvent(row, byEvent.get(row.id) ?? [], webhooks, baseUrl))
}
