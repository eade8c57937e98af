import Type, { type Static } from 'typebox'
import { INVOICE_STATUSES } from '../../billing/invoices.ts'
import { CANCEL_CATEGORIES, ORDER_STATUSES } from '../../billing/order.ts'
import { NullableInterval, NullableTimeShift } from './billing-terms.ts'
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
    status: ReadOnly(Type.Enum([...ORDER_STATUSES])),
    billingStatus: ReadOnly(
      Type.Enum([...INVOICE_STATUSES], { description: 'Status of its most recent invoice.' }),
    ),
    trial: Type.Optional(
      OrNull(
        Type.Object(
          {
            enabled: Type.Boolean(),
            endTime: Nullable(Instant('When it ends; required where it is enabled.')),
          },
          { additionalProperties: false, description: "In the plans' place; null: as the plans say." },
        ),
      ),
    ),
    isTrialOnly: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether nothing follows the trial.' }),
    ),
    inTrial: ReadOnly(Type.Boolean()),
    isTrialConverted: ReadOnly(Type.Boolean({ description: 'Whether a payment followed the trial.' })),
    recurringInterval: NullableInterval,
    invoiceTimeShift: NullableTimeShift,
    delinquencyPeriod: Nullable(
      Type.String({
        format: 'duration',
        maxLength: 50,
        description: 'How long after it was due an unpaid invoice cancels the order; null: it does not.',
      }),
    ),
    shipping: Type.Optional(
      OrNull(
        Type.Object(
          {
            amount: Type.Number({ minimum: 0, exclusiveMaximum: 1e12 }),
            calculator: Type.Optional(Type.Enum(['manual'], { default: 'manual' })),
          },
          { additionalProperties: false, description: 'A line of every invoice.' },
        ),
      ),
    ),
    currency: ReadOnly(Type.String({ description: 'ISO 4217 code of its plans.' })),
    autopay: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether payment is attempted automatically.' }),
    ),
    paymentInstrumentId: Nullable(
      Id("What is charged, one of the customer's; without it, or where it is inactive, their default one."),
    ),
    startTime: Nullable(
      Instant('When the service period begins; null: now. At most one period in the past.'),
    ),
    activationTime: ReadOnly(OrNull(Instant('When it became active.'))),
    voidTime: ReadOnly(OrNull(Instant('When it was voided.'))),
    renewalTime: Nullable(
      Instant('When the next period begins; written under If-Match, it moves that boundary and its anchor.'),
    ),
    churnTime: ReadOnly(OrNull(Instant('When service ends or ended.'))),
    rebillNumber: ReadOnly(
      OrNull(Type.Integer({ description: 'Current period: 0 in trial, then from 1 on.' })),
    ),
    initialInvoiceId: ReadOnly(OrNull(Id('Its first invoice.'))),
    recentInvoiceId: ReadOnly(OrNull(Id('Its most recent invoice.'))),
    lineItems: ReadOnly(Type.Array(Type.Object({}), { description: 'Deprecated; empty.' })),
    lineItemSubtotal: ReadOnly(
      Type.Object({ currency: Type.String(), amount: Type.Number() }, { description: 'Deprecated; zero.' }),
    ),
    canceledBy: ReadOnly(OrNull(Type.Enum(['merchant', 'customer', 'rebilly-side']))),
    cancelCategory: ReadOnly(OrNull(Type.Enum([...CANCEL_CATEGORIES]))),
    cancelDescription: ReadOnly(OrNull(Text('Why, in words.'))),
    billingPortalToken: ReadOnly(OrNull(Text('Experimental; null.'))),
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
