import Type, { type Static } from 'typebox'
import { INVOICE_STATUSES } from '../../billing/invoices.ts'
import { CANCEL_CATEGORIES, ORDER_STATUSES } from '../../billing/order.ts'
import { NullableInterval, NullableTimeShift } from './billing-terms.ts'
import { Contact } from './contact.ts'
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
import { RiskMetadata } from './risk-metadata.ts'

const usageLimit = (description: string) =>
  Nullable(
    Type.Object(
      { quantity: Type.Integer({ minimum: 0, maximum: 1_000_000_000 }) },
      { additionalProperties: false, description },
    ),
  )

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
          plan: Type.Optional(
            Type.Object(
              { id: Id('An existing plan.') },
              { additionalProperties: false, description: 'What is ordered. Required.' },
            ),
          ),
          planId: Type.Optional(Id('Deprecated: the plan, where `plan` does not say.')),
          quantity: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 1_000_000_000,
              default: 1,
              description: 'Units of the plan.',
            }),
          ),
          quantityFilled: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 1_000_000_000,
              default: 0,
              description: 'Units that were handed over.',
            }),
          ),
          usageLimits: Type.Optional(
            OrNull(
              Type.Object(
                {
                  softLimit: usageLimit('Told when it is passed.'),
                  hardLimit: usageLimit('Not to be passed.'),
                },
                { additionalProperties: false, description: 'Of metered plans.' },
              ),
            ),
          ),
          revision: ReadOnly(Type.Integer({ minimum: 1, description: 'Raised by each change of the item.' })),
          isModified: ReadOnly(Type.Boolean({ description: 'Whether it carries a plan of its own.' })),
          isGrandfathered: ReadOnly(
            Type.Boolean({ description: 'Whether the plan has changed since the item was priced.' }),
          ),
          _embedded: ReadOnly(Type.Object({})),
        },
        {
          additionalProperties: false,
          if: { not: { required: ['planId'] } },
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
          then: { required: ['plan'] },
        },
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
    deliveryAddress: Nullable(Contact),
    billingAddress: Nullable(Contact),
    riskMetadata: Type.Optional(
      OrNull(RiskMetadata, {
        description:
          "What is known of the risk; null takes what was captured with the token of the order's instrument.",
      }),
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
