import Type, { type Static } from 'typebox'
import { EVENT_TYPE_PATTERN, EVENT_TYPES } from '../../billing/event-types.ts'
import { Id, Instant, Nullable, OrNull, ReadOnly, resourceMembers } from './conventions.ts'
import { notSupportedYet } from './not-supported.ts'

export const Webhook = Type.Object(
  {
    ...resourceMembers,
    url: Type.String({ format: 'uri', maxLength: 2048, description: 'URL that events are sent to.' }),
    method: Type.Optional(
      Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], {
        default: 'POST',
        description: 'HTTP method of deliveries.',
      }),
    ),
    eventsFilter: Type.Optional(
      Type.Array(Type.String({ pattern: EVENT_TYPE_PATTERN, maxLength: 60, examples: [...EVENT_TYPES] }), {
        default: [],
        uniqueItems: true,
        maxItems: 500,
        description:
          'Event types that the webhook receives. If empty, it receives all of them. A type of another release is kept and never sent.',
      }),
    ),
    status: Type.Optional(
      Type.Enum(['active', 'inactive'], {
        default: 'active',
        description: 'Status of the webhook. Only active webhooks receive events.',
      }),
    ),
    websiteId: Nullable(
      Id('Website whose events the webhook receives. If null, it receives those of all websites.'),
    ),
    credentialHash: Nullable(
      Id('Hash of a service credential for the host of the URL. If null, no credential is sent.'),
    ),
    headers: Type.Optional(
      Type.Array(
        Type.Object(
          {
            name: Type.String({
              minLength: 1,
              maxLength: 100,
              description: 'Name of the header. It must not be a header that the service sets.',
            }),
            value: Type.String({ maxLength: 1000, description: 'Value of the header, in printable ASCII.' }),
            status: Type.Optional(
              Type.Enum(['active', 'inactive'], {
                default: 'active',
                description: 'Status of the header. Only active headers are sent.',
              }),
            ),
          },
          { additionalProperties: false, description: 'A custom header.' },
        ),
        { default: [], maxItems: 20, description: 'Custom headers, sent with each attempt.' },
      ),
    ),
    ...notSupportedYet({ body: null, filter: null }),
    deactivationReason: ReadOnly(
      OrNull(Type.String({ description: 'Why the service deactivated the webhook.' })),
    ),
    consecutiveFailures: ReadOnly(
      Type.Integer({ minimum: 0, description: 'Number of failed attempts since the last successful one.' }),
    ),
    firstFailureTime: ReadOnly(OrNull(Instant('When the first of these failed attempts was made.'))),
  },
  { $id: 'Webhook', additionalProperties: false, description: 'A webhook, which receives events at a URL.' },
)
export type Webhook = Static<typeof Webhook>
