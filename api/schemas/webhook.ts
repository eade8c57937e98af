import Type, { type Static } from 'typebox'
import { EVENT_TYPES } from '../../billing/event-types.ts'
import { Id, Instant, Nullable, OrNull, ReadOnly, resourceMembers } from './conventions.ts'

export const Webhook = Type.Object(
  {
    ...resourceMembers,
    url: Type.String({ format: 'uri', maxLength: 2048, description: 'Where events are sent.' }),
    method: Type.Optional(
      Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], {
        default: 'POST',
        description: 'HTTP method of deliveries.',
      }),
    ),
    eventsFilter: Type.Optional(
      Type.Array(Type.Enum([...EVENT_TYPES]), {
        default: [],
        uniqueItems: true,
        description: 'Event types wanted; empty: all.',
      }),
    ),
    status: Type.Optional(
      Type.Enum(['active', 'inactive'], {
        default: 'active',
        description: 'Only active webhooks get events.',
      }),
    ),
    websiteId: Nullable(Id('Only events of this website; null: of all.')),
    credentialHash: Nullable(Id('Hash of a service credential for the host of the URL; null: none.')),
    headers: Type.Optional(
      Type.Array(
        Type.Object(
          {
            name: Type.String({
              minLength: 1,
              maxLength: 100,
              description: 'Not one the service sends itself.',
            }),
            value: Type.String({ maxLength: 1000, description: 'Printable ASCII.' }),
            status: Type.Optional(
              Type.Enum(['active', 'inactive'], {
                default: 'active',
                description: 'Only active ones are sent.',
              }),
            ),
          },
          { additionalProperties: false },
        ),
        { default: [], maxItems: 20, description: 'Headers of your own, sent with each attempt.' },
      ),
    ),
    deactivationReason: ReadOnly(OrNull(Type.String({ description: 'Why the service made it inactive.' }))),
    consecutiveFailures: ReadOnly(
      Type.Integer({ minimum: 0, description: 'Attempts that failed since the last that succeeded.' }),
    ),
    firstFailureTime: ReadOnly(OrNull(Instant('When the first of them was made.'))),
  },
  { $id: 'Webhook', additionalProperties: false, description: 'A subscriber to events.' },
)
export type Webhook = Static<typeof Webhook>
