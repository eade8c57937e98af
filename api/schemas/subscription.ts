import Type, { type Static } from 'typebox'
import {
  CustomFields,
  Id,
  Instant,
  Nullable,
  OrNull,
  ReadOnly,
  resourceMembers,
  Text,
} from './conventions.ts'

const STATUSES = [
  'pending',
  'active',
  'abandoned',
  'canceled',
  'churned',
  'paused',
  'voided',
  'completed',
  'trial-ended',
]

export const Subscription = Type.Object(
  {
    ...resourceMembers,
    orderId: ReadOnly(Id('Equals `id`. Experimental.')),
    orderType: Type.Enum(['subscription-order']),
    organizationId: ReadOnly(Id('Organization the order belongs to.')),
    customerId: Id('Who ordered.'),
    websiteId: Id('Where it was ordered.'),
    items: Type.Array(
      Type.Object(
        {
          id: ReadOnly(Id('Unique in the order.')),
          plan: Type.Object({ id: Id('An existing plan.') }, { additionalProperties: false }),
          quantity: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 1_000_000_000,
              default: 1,
              description: 'Units of the plan.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 100, description: 'What was ordered.' },
    ),
    status: ReadOnly(Type.Enum(STATUSES)),
    currency: ReadOnly(Type.String({ description: 'ISO 4217 code of its plans.' })),
    autopay: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether payment is attempted automatically.' }),
    ),
    startTime: Nullable(
      Instant('When the service period begins; null: now. At most one period in the past.'),
    ),
    activationTime: ReadOnly(OrNull(Instant('When it became active.'))),
    abandonTime: Nullable(
      Instant("When it is abandoned if still pending; null: by the organization's setting."),
    ),
    poNumber: Nullable(Text('Purchase order number, shown on invoices.')),
    notes: Nullable(Type.String({ maxLength: 1000, description: 'Shown on invoices.' })),
    customFields: CustomFields,
    clockOffset: ReadOnly(
      Type.Number({ description: "Seconds by which this order's clock is ahead of real time (sandbox)." }),
    ),
  },
  {
    $id: 'Subscription',
    additionalProperties: false,
    description: "An order: a customer's subscription to the plans of its items.",
  },
)
export type Subscription = Static<typeof Subscription>
