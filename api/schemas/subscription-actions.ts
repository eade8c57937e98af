/** Resources of actions on orders. */
import Type, { type Static } from 'typebox'
import { CANCEL_CATEGORIES } from '../../billing/order.ts'
import { Id, Instant, Nullable, ReadOnly, resourceMembers, Text } from './conventions.ts'
import { Invoice } from './invoice.ts'

const subscriptionId = Id('Order of this resource.')

export const SubscriptionCancellation = Type.Object(
  {
    ...resourceMembers,
    subscriptionId,
    churnTime: Nullable(Instant('When the service ends. If null or not in the future, it ends immediately.')),
    canceledBy: Type.Optional(Type.Enum(['merchant', 'customer'], { default: 'merchant' })),
    reason: Nullable(Type.Enum([...CANCEL_CATEGORIES])),
    description: Nullable(Text('Reason in free text.')),
    prorated: Type.Optional(
      Type.Literal(false, { default: false, description: 'Proration is not supported yet.' }),
    ),
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
    effectiveTime: Nullable(Instant('When the pause begins. If null, it begins immediately.')),
    endTime: Nullable(Instant('When the pause ends. If null, it lasts until the order is resumed.')),
    description: Nullable(Text('Reason in free text.')),
  },
  {
    $id: 'SubscriptionPause',
    additionalProperties: false,
    description: 'A pause of an order, in which it is neither served nor invoiced.',
  },
)
export type SubscriptionPause = Static<typeof SubscriptionPause>

export const SubscriptionReactivation = Type.Object(
  {
    ...resourceMembers,
    subscriptionId,
    effectiveTime: ReadOnly(Instant('When the reactivation took effect.')),
  },
  {
    $id: 'SubscriptionReactivation',
    additionalProperties: false,
    description: 'A reactivation of a canceled order.',
  },
)
export type SubscriptionReactivation = Static<typeof SubscriptionReactivation>

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
    description: 'A preview of the invoice of the next renewal.',
  },
)
