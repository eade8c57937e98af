/** Resources beside orders: what was done to them, and what happened to them. */
import Type, { type Static } from 'typebox'
import { CANCEL_CATEGORIES } from '../../billing/order.ts'
import { Id, Instant, Nullable, ReadOnly, resourceMembers, Text } from './conventions.ts'
import { Invoice } from './invoice.ts'

const subscriptionId = Id('The order.')

export const SubscriptionCancellation = Type.Object(
  {
    ...resourceMembers,
    subscriptionId,
    churnTime: Nullable(Instant('When service ends; null, or not ahead: at once.')),
    canceledBy: Type.Optional(Type.Enum(['merchant', 'customer'], { default: 'merchant' })),
    reason: Nullable(Type.Enum([...CANCEL_CATEGORIES])),
    description: Nullable(Text('Why, in words.')),
    prorated: Type.Optional(Type.Literal(false, { default: false, description: 'Not offered yet.' })),
  },
  {
    $id: 'SubscriptionCancellation',
    additionalProperties: false,
    description: 'A cancellation of an order.',
  },
)
export type SubscriptionCancellation = Static<typeof SubscriptionCancellation>

export const SubscriptionPause = Type.Object(
  {
    ...resourceMembers,
    subscriptionId,
    status: ReadOnly(Type.Enum(['pending', 'active', 'ended', 'revoked'])),
    effectiveTime: Nullable(Instant('From when on; null: now.')),
    endTime: Nullable(Instant('Until when; null: until it is resumed.')),
    description: Nullable(Text('Why, in words.')),
  },
  {
    $id: 'SubscriptionPause',
    additionalProperties: false,
    description: 'A time in which an order is neither served nor billed.',
  },
)
export type SubscriptionPause = Static<typeof SubscriptionPause>

export const SubscriptionReactivation = Type.Object(
  { ...resourceMembers, subscriptionId, effectiveTime: ReadOnly(Instant('When it took effect.')) },
  {
    $id: 'SubscriptionReactivation',
    additionalProperties: false,
    description: 'A reactivation of a canceled order.',
  },
)
export type SubscriptionReactivation = Static<typeof SubscriptionReactivation>

export const TimelineEntry = Type.Object(
  {
    id: ReadOnly(Id('Unique in the organization.')),
    type: ReadOnly(Type.String({ description: 'The event of the transition.' })),
    occurredTime: ReadOnly(Instant("When it happened, on the order's clock.")),
    cause: ReadOnly(Type.Enum(['api', 'timer', 'payment', 'deadline'])),
    message: ReadOnly(Type.String({ description: 'What happened, in words.' })),
    createdTime: ReadOnly(Instant('When it was written down.')),
  },
  { $id: 'TimelineEntry', additionalProperties: false, description: 'One thing that happened to an order.' },
)

const {
  subscriptionId: order,
  customerId,
  websiteId,
  type,
  status,
  currency,
  amount,
  amountDue,
} = Invoice.properties
const { items, discounts, periodNumber, periodStart, periodEnd, issuedTime, dueTime } = Invoice.properties

export const UpcomingInvoice = Type.Object(
  {
    subscriptionId: order,
    customerId,
    websiteId,
    type,
    status,
    currency,
    amount,
    amountDue,
    items,
    discounts,
    periodNumber,
    periodStart,
    periodEnd,
    issuedTime,
    dueTime,
  },
  {
    $id: 'UpcomingInvoice',
    additionalProperties: false,
    description: 'The invoice the next renewal will bring, as things stand.',
  },
)
