import Type, { type Static } from 'typebox'
import { Id, Instant, OrNull, ReadOnly, resourceMembers } from './conventions.ts'

const Count = (description: string) => ReadOnly(Type.Integer({ minimum: 0, description }))
const ReadOnlyText = (description: string) => ReadOnly(Type.String({ description }))
const WordsOrNull = (description: string) => ReadOnly(OrNull(Type.String({ description })))
const Headers = { type: 'object', additionalProperties: { type: 'string' } } as const

export const WebhookTracking = Type.Object(
  {
    ...resourceMembers,
    organizationId: ReadOnly(Id('Organization of the webhook.')),
    source: ReadOnly(Type.Enum(['webhooks', 'rules'], { description: 'What sent the request.' })),
    webhookId: ReadOnly(Id('Webhook that receives the event.')),
    deliveryId: ReadOnly(Id('Delivery of which this is one attempt.')),
    attempt: Count('Number of the attempt in its delivery, starting at 1.'),
    eventId: ReadOnly(Id('Event that is delivered; the Webhook-Id header of the request.')),
    eventType: ReadOnlyText('Type of the event.'),
    entityId: ReadOnly(Id('Id of the resource that the event concerns: the first id of its payload.')),
    url: ReadOnlyText('URL of the request.'),
    method: ReadOnlyText('HTTP method of the request.'),
    status: ReadOnly(
      OrNull(Type.Integer({ description: 'HTTP status of the response; null if there was none.' })),
    ),
    failure: WordsOrNull('Code of the failure; null if the attempt succeeded.'),
    duration: Count('Duration of the attempt in milliseconds.'),
    initiatedTime: ReadOnly(Instant('When the attempt began.')),
    sentTime: ReadOnly(OrNull(Instant('When the request was sent; null if it was not.'))),
    request: WordsOrNull('Body of the request.'),
    requestHeaders: ReadOnly(
      Type.Unsafe<Record<string, string>>({
        ...Headers,
        description: 'Headers of the request. Credentials are masked.',
      }),
    ),
    response: WordsOrNull('Up to 16 KiB of the response.'),
    responseHeaders: ReadOnly(
      Type.Unsafe<Record<string, string> | null>({
        ...Headers,
        type: ['object', 'null'],
        description: 'Headers of the response.',
      }),
    ),
  },
  { $id: 'WebhookTracking', additionalProperties: false, description: 'One attempt to deliver an event.' },
)
export type WebhookTracking = Static<typeof WebhookTracking>

export const Event = Type.Object(
  {
    ...resourceMembers,
    position: ReadOnlyText(
      'Position of the event, an increasing number. To continue after the last event, list with sort=position and filter=position:{last}.. (inclusive).',
    ),
    eventType: ReadOnlyText('Type of the event.'),
    eventTime: ReadOnly(Instant('When the event occurred, on the clock of the resource that it concerns.')),
    websiteId: ReadOnly(OrNull(Id('Website that the event belongs to.'))),
    entityId: ReadOnly(Id('Id of the resource that the event concerns: the first id of its payload.')),
    payload: ReadOnly(
      Type.Unsafe<object>({ type: 'object', description: 'Payload that is sent to receivers.' }),
    ),
    deliveries: ReadOnly(
      Type.Array(
        Type.Object(
          {
            id: Id('Id of the delivery.'),
            webhookId: Id('Webhook that receives the event.'),
            status: Type.Enum(['waiting', 'retrying', 'delivered', 'exhausted', 'canceled']),
            attempts: Type.Integer({ minimum: 0 }),
            nextAttemptTime: OrNull(Instant('When the next attempt is made.')),
          },
          { description: 'A delivery of the event to one webhook.' },
        ),
        { description: 'Deliveries of the event, one per webhook that receives it.' },
      ),
    ),
  },
  { $id: 'Event', additionalProperties: false, description: 'An event and its deliveries.' },
)
export type Event = Static<typeof Event>
