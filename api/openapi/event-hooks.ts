/** The `webhooks` of the document: one request per event that the service emits. */
import type { TSchema } from 'typebox'
import { EMITTED_EVENTS, type EmittedEvent, embeddedIn } from '../../billing/event-types.ts'
import { ID_PATTERN } from '../../billing/id-format.ts'
import type { Example } from './examples.ts'
import { type Components, type JsonSchema, pascal, refToComponent } from './schemas.ts'

const MORE: readonly (readonly [RegExp, Readonly<Record<string, JsonSchema>>])[] = [
  [
    /^customer-merged$/,
    { duplicateCustomerId: idSchema('Id of the customer that was merged, and no longer exists.') },
  ],
  [/^webhook-delivery-exhausted$/, { deliveryId: idSchema('Id of the delivery.') }],
  [
    /^dispute-/,
    {
      cause: {
        type: 'string',
        enum: ['api', 'deadline', 'payment'],
        description: 'What changed the dispute: a caller, its deadline, or the payment provider (`payment`).',
      },
    },
  ],
]

/** Returns the webhooks by event type, and adds their payloads. `resources` are the schemas by name. */
export function eventHooks(
  components: Components,
  resources: ReadonlyMap<string, TSchema>,
  examplesOf: (schema: JsonSchema) => Readonly<Record<string, Example>>,
): Record<string, object> {
  return Object.fromEntries(
    EMITTED_EVENTS.map((event) => {
      const schema = components.add(`${pascal(event.type)}Event`, payloadSchema(event, components, resources))
      const [example] = Object.values(examplesOf(schema))
      return [event.type, { post: request(event, schema, example) }]
    }),
  )
}

/** Callbacks repeat the events for generators that read paths only. Call it after `eventHooks`. */
export function eventCallbacks(components: Components): object {
  const refs = EMITTED_EVENTS.map(({ type }) => [type, refToComponent(`${pascal(type)}Event`)] as const)
  const schema = components.add('EventPayload', {
    description: 'The payload of an event. Receivers have to tolerate types that they do not know.',
    oneOf: refs.map(([, ref]) => ref),
    discriminator: {
      propertyName: 'eventType',
      mapping: Object.fromEntries(refs.map(([type, { $ref = '' }]) => [type, $ref])),
    },
  })
  return {
    event: {
      '{$request.body#/url}': {
        post: {
          operationId: 'OnEvent',
          summary: 'Receive an event',
          description: 'One of the webhooks of this document, by its `eventType`.',
          tags: ['Events'],
          security: [],
          requestBody: { required: true, content: { 'application/json': { schema } } },
          responses: {
            200: { description: 'Received. Respond within 20 seconds.' },
            '4XX': { description: 'Refused: the delivery is repeated.' },
          },
        },
      },
    },
  }
}

function request({ type, when }: EmittedEvent, schema: JsonSchema, example: Example | undefined): object {
  return {
    operationId: `On${pascal(type)}`,
    summary: `Receive ${type}`,
    description: `${when} The method is that of the webhook. A failed delivery is repeated up to six times; \`Webhook-Id\` is the same on each attempt.`,
    tags: ['Events'],
    security: [],
    parameters: [
      hookHeader(
        'Security-Signature',
        'JWT that signs the body (RS256). Verify it with the keys of `/.well-known/keys`.',
      ),
      hookHeader('Webhook-Id', 'Id of the event, the same on every attempt.'),
      hookHeader('User-Agent', '`Service/` and the release of the service.'),
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema,
          ...(example === undefined ? {} : { example: { ...(example.value as object), eventType: type } }),
        },
      },
    },
    responses: {
      200: { description: 'Received. Respond within 20 seconds.' },
      ...(type.startsWith('dispute-') ? { '2XX': { description: 'Received as well.' } } : {}),
    },
  }
}

function payloadSchema(
  event: EmittedEvent,
  components: Components,
  resources: ReadonlyMap<string, TSchema>,
): JsonSchema {
  const { type, when, ids } = event
  const embedded = embeddedIn(event).flatMap((name) => {
    const resource = resources.get(pascal(name))
    return resource === undefined ? [] : [[name, resource] as const]
  })
  const more = Object.assign({}, ...MORE.filter(([types]) => types.test(type)).map(([, members]) => members))
  return {
    type: 'object',
    description: when,
    required: [...ids, 'eventType', 'eventId', 'eventTime', ...Object.keys(more), '_embedded', '_links'],
    properties: {
      ...Object.fromEntries(ids.map((id) => [id, idSchema(`Id of the ${labelOf(id)}.`)])),
      eventType: { type: 'string', enum: [type], description: 'Type of the event.' },
      eventId: idSchema('Id of the event.'),
      eventTime: {
        type: 'string',
        format: 'date-time',
        description: 'When the event occurred, on the clock of the record.',
      },
      ...more,
      _embedded: {
        type: 'object',
        description: 'The records as they stood then.',
        required: embedded.map(([name]) => name),
        properties: Object.fromEntries(
          embedded.map(([name, resource]) => [name, components.refTo(resource, 'embedded')]),
        ),
      },
      _links: {
        type: 'array',
        description: 'Links to the records.',
        items: { $ref: '#/components/schemas/Link' },
      },
    },
  }
}

function idSchema(description: string): JsonSchema {
  return { type: 'string', pattern: ID_PATTERN, maxLength: 50, description }
}

function hookHeader(name: string, description: string): object {
  return { name, in: 'header', required: true, description, schema: { type: 'string' } }
}

function labelOf(id: string): string {
  return id.replace(/Id$/, '').replaceAll(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`)
}
