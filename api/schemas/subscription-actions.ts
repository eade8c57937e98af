import Type, { type Static } from 'typebox'
import { CANCEL_CATEGORIES } from '../../billing/order.ts'
import { CHURN_TIME_POLICIES } from '../../billing/order-commands.ts'
import {
  EnumWithReadOnlyValues,
  Id,
  Instant,
  Nullable,
  OrNull,
  ReadOnly,
  resourceMembers,
  Text,
} from './conventions.ts'
import { readOnlyNotSupportedYet } from './not-supported.ts'
import { QueuedLine } from './queued-line.ts'

const subscriptionId = Id('Order of this resource.')

export const SubscriptionCancellation = Type.Object(
  {
    ...resourceMembers,
    subscriptionId,
    status: Type.Optional(
      EnumWithReadOnlyValues(['confirmed', 'draft'], ['completed', 'revoked'], {
        description:
          'Status of the cancellation. A draft cancels nothing until it is confirmed; a confirmed cancellation is completed at its churn time. If it is missing, a new cancellation is confirmed and another one keeps its status.',
      }),
    ),
    churnTime: Nullable(Instant('When the service ends. If null or not in the future, it ends immediately.')),
    churnTimePolicy: Nullable(
      Type.Enum([...CHURN_TIME_POLICIES], {
        description:
          'When the service ends, in place of churnTime: immediately, or at the next renewal. If null, churnTime decides.',
      }),
    ),
    canceledBy: Type.Optional(
      EnumWithReadOnlyValues(['merchant', 'customer'], ['rebilly-side'], { default: 'merchant' }),
    ),
    reason: Nullable(Type.Enum([...CANCEL_CATEGORIES])),
    description: Nullable(Text('Reason in free text.')),
    canceledTime: ReadOnly(OrNull(Instant('When the order was canceled. Null for a draft.'))),
    prorated: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether the unused part of the last period is credited when the service ends.',
      }),
    ),
    lineItems: Type.Optional(
      Type.Array(QueuedLine, {
        default: [],
        maxItems: 1000,
        description:
          'What was credited when the service ended. The next invoice of the order has it. Lines of your own are not supported yet.',
      }),
    ),
    lineItemSubtotal: ReadOnly(
      OrNull(
        Type.Object(
          { currency: Type.String(), amount: Type.Number() },
          { description: 'Sum of the line items, negative for a credit. Null until the order is canceled.' },
        ),
      ),
    ),
    proratedInvoiceId: ReadOnly(OrNull(Id('Invoice of the period that was credited.'))),
    ...readOnlyNotSupportedYet({ appliedInvoiceId: null }),
  },
  {
    $id: 'SubscriptionCancellation',
    additionalProperties: false,
    description: 'A cancellation of an order.',
  },
)
export type SubscriptionCancellation = Static<typeof SubscriptionCancellation>

export const SubscriptionCancellationPatch = Type.Object(
  { ...SubscriptionCancellation.properties, subscriptionId: Type.Optional(subscriptionId) },
  {
    $id: 'SubscriptionCancellationPatch',
    additionalProperties: false,
    description: 'Members of a cancellation to change.',
  },
)

export const SubscriptionPause = Type.Object(
  {
    ...resourceMembers,
    subscriptionId,
    status: ReadOnly(Type.Enum(['pending', 'ongoing', 'finished', 'revoked'])),
    pausedBy: Type.Optional(
      Type.Enum(['merchant', 'customer'], { default: 'merchant', description: 'Who paused the order.' }),
    ),
    effectiveTime: Nullable(Instant('When the pause begins. If null, it begins immediately.')),
    endTime: Nullable(Instant('When the pause ends. If null, it lasts until the order is resumed.')),
    timeRemaining: Nullable(
      Text(
        'Time from the end of the pause to the next renewal, as an ISO 8601 duration, whose months are as long as those after the beginning of the pause. If null, what remains of the service period when the pause begins.',
      ),
    ),
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
    cancellationId: ReadOnly(
      OrNull(Id('Cancellation that is reversed. Null after a cancellation for billing failure.')),
    ),
    effectiveTime: Nullable(
      Instant('When the reactivation takes effect: now. A time ahead is not supported yet.'),
    ),
    renewalTime: Nullable(
      Instant(
        'When the next period begins. If null or not in the future, the service period of the order decides.',
      ),
    ),
    paymentInstrumentId: Nullable(
      Id('Payment instrument that the order is charged by from now on. If null, it stays the same.'),
    ),
    description: Nullable(Text('Reason in free text.')),
  },
  {
    $id: 'SubscriptionReactivation',
    additionalProperties: false,
    description: 'A reactivation of a canceled order.',
  },
)
export type SubscriptionReactivation = Static<typeof SubscriptionReactivation>
