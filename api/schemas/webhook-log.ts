import Type, { type Static } from 'typebox'
import { Id, Instant, OrNull, ReadOnly, resourceMembers } from './conventions.ts'

const Count = (description: string) => ReadOnly(Type.Integer({ minimum: 0, description }))
const Words = (description: string) => ReadOnly(Type.String({ description }))
const WordsOrNull = (description: string) => ReadOnly(OrNull(Type.String({ description })))
const Headers = { type: 'object', additionalProperties: { type: 'string' } } as const

export const WebhookTracking = Type.Object(
  {
    ...resourceMembers,
    webhookId: ReadOnly(Id('The subscriber.')),
    deliveryId: ReadOnly(Id('What its attempts have in common.')),
    attempt: Count('Number of this attempt of the delivery, from 1.'),
    eventId: ReadOnly(Id('The event; Webhook-Id of the request.')),
    eventType: Words('Its type.'),
    entityId: ReadOnly(Id('What the event is about: the first id of its payload.')),
    url: Words('Where it was sent.'),
    method: Words('HTTP method.'),
    status: ReadOnly(OrNull(Type.Integer({ description: 'HTTP status; null: no answer came.' }))),
    failure: WordsOrNull('Why it failed, in one word; null: it succeeded.'),
    duration: Count('Milliseconds from its start to its outcome.'),
    initiatedTime: ReadOnly(Instant('When it began.')),
    sentTime: ReadOnly(OrNull(Instant('When the request went out; null: it never did.'))),
    request: WordsOrNull('The body that was sent.'),
    requestHeaders: ReadOnly(
      Type.Unsafe<Record<string, string>>({ ...Headers, description: 'What lets the sender in is masked.' }),
    ),
    response: WordsOrNull('At most 16 KiB of the answer.'),
    responseHeaders: ReadOnly(
      Type.Unsafe<Record<string, string> | null>({
        ...Headers,
        type: ['object', 'null'],
        description: 'Of the answer.',
      }),
    ),
  },
  { $id: 'WebhookTracking', additionalProperties: false, description: 'One attempt to deliver an event.' },
)
export type WebhookTracking = Static<typeof WebhookTracking>

export const Event = Type.Object(
  {
    ...resourceMembers,
    position: Words(
      'Digits of a number that only grows: read on from the last one with sort=position and filter=position:{last}.. (inclusive).',
    ),
    eventType: Words('What happened.'),
    eventTime: ReadOnly(Instant('When, on the clock of the record it is about.')),
    websiteId: ReadOnly(OrNull(Id('The website it belongs to.'))),
    entityId: ReadOnly(Id('What it is about: the first id of its payload.')),
    payload: ReadOnly(Type.Unsafe<object>({ type: 'object', description: 'What receivers are sent.' })),
    deliveries: ReadOnly(
      Type.Array(
        Type.Object({
          id: Id('The delivery.'),
          webhookId: Id('The subscriber.'),
          status: Type.Enum(['waiting', 'retrying', 'delivered', 'exhausted', 'canceled']),
          attempts: Type.Integer({ minimum: 0 }),
          nextAttemptTime: OrNull(Instant('When it is tried again.')),
        }),
        { description: 'What became of it, for each webhook that wanted it.' },
      ),
    ),
  },
  { $id: 'Event', additionalProperties: false, description: 'Something that happened.' },
)
export type Event = Static<typeof Event>
