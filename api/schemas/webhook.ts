import Type, { type Static } from 'typebox'
import { EVENT_TYPES } from '../../billing/event-types.ts'
import { Id, Nullable, resourceMembers } from './conventions.ts'

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
  },
  { $id: 'Webhook', additionalProperties: false, description: 'A subscriber to events.' },
)
export type Webhook = Static<typeof Webhook>
