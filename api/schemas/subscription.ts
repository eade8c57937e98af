import Type, { type Static, type TOptional, type TSchema } from 'typebox'
import { INVOICE_STATUSES } from '../../billing/invoices.ts'
import { CANCEL_CATEGORIES, ORDER_STATUSES } from '../../billing/order.ts'
import { NullableOrderInterval, NullableTimeShift } from './billing-terms.ts'
import { Contact } from './contact.ts'
import {
  Amount,
  CustomFields,
  Id,
  Inside,
  Instant,
  Nullable,
  OmittedWhenUnknown,
  OrNull,
  PartlySupported,
  ReadOnly,
  resourceMembers,
  Text,
  WriteOnly,
} from './conventions.ts'
import { readOnlyNotSupportedYet, writeOnlyNotSupportedYet } from './not-supported.ts'
import { Plan } from './plan.ts'
import { QueuedLine } from './queued-line.ts'
import { RiskMetadata } from './risk-metadata.ts'

const RENEWAL_POLICIES = ['retain', 'reset', 'retainRecurring', 'resetToRecurring'] as const

const usageLimit = (description: string) =>
  Nullable(
    Type.Object(
      {
        quantity: Nullable(Type.Integer({ minimum: 0, maximum: 1_000_000_000 })),
        amount: Nullable(Amount('Amount of the usage, in the currency of the order.', { minimum: 0 })),
      },
      { additionalProperties: false, description },
    ),
  )

/** Without a value, the item's plan does not have the member. */
const own = <T extends TSchema>(schema: T) => {
  const { default: _, ...rest } = schema as TSchema & { default?: unknown }
  return OmittedWhenUnknown(Type.Optional(rest)) as unknown as TOptional<T>
}
const ownReadOnly = <T extends TSchema>(schema: T) => OmittedWhenUnknown(ReadOnly(schema))

const terms = Plan.properties

/** The id alone names a plan, and any other member makes the plan the item's own. */
export const ItemPlan = Type.Object(
  {
    id: own(
      Id(
        'Id of the plan. With any other member, the plan that the item has a customized version of, if any.',
      ),
    ),
    name: own(terms.name),
    description: own(terms.description),
    richDescription: own(terms.richDescription),
    productId: own(terms.productId),
    currency: own(terms.currency),
    pricing: own(terms.pricing),
    recurringInterval: own(terms.recurringInterval),
    trial: own(terms.trial),
    isTrialOnly: own(terms.isTrialOnly),
    setup: own(terms.setup),
    invoiceTimeShift: own(terms.invoiceTimeShift),
    isActive: own(terms.isActive),
    customFields: own(terms.customFields),
    currencySign: ownReadOnly(terms.currencySign),
    revision: ownReadOnly(terms.revision),
    createdTime: ownReadOnly(terms.createdTime),
    updatedTime: ownReadOnly(terms.updatedTime),
    _links: ownReadOnly(terms._links),
    ...writeOnlyNotSupportedYet({ productOptions: null, meteredBilling: null }),
  },
  {
    additionalProperties: false,
    if: { maxProperties: 0 },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['id'] },
    description:
      "Plan that is ordered. Required unless planId is given. The id alone refers to a plan. Any other member makes it a plan of the item's own, which needs name, currency and, unless it ends with its trial, pricing; without recurringInterval and trial it is a one-time sale.",
  },
)
export type ItemPlan = Static<typeof ItemPlan>

export const SubscriptionItem = Type.Object(
  {
    id: ReadOnly(Id('Id of the item, unique in the order.')),
    plan: Type.Optional(ItemPlan),
    planId: OmittedWhenUnknown(Type.Optional(Id('Deprecated: id of the plan. Use `plan` instead.'))),
    quantity: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000_000,
        default: 1,
        description: 'Quantity of the plan.',
      }),
    ),
    quantityFilled: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000_000,
        default: 0,
        description: 'Quantity that was fulfilled.',
      }),
    ),
    usageLimits: Type.Optional(
      OrNull(
        Type.Object(
          {
            softLimit: usageLimit('Soft limit of a metered plan.'),
            hardLimit: usageLimit('Hard limit of a metered plan.'),
            trialLimit: Nullable(Amount('Usage that the trial of a metered plan includes.', { minimum: 0 })),
          },
          {
            additionalProperties: false,
            description:
              'Usage limits of a metered plan. No plan is metered in this release, so they are kept and returned, but have no effect.',
          },
        ),
      ),
    ),
    revision: ReadOnly(
      Type.Integer({ minimum: 1, description: 'Number of the current revision of the item.' }),
    ),
    isModified: ReadOnly(Type.Boolean({ description: 'Whether the item has a customized plan.' })),
    isGrandfathered: ReadOnly(
      Type.Boolean({ description: 'Whether the plan has changed since the item was priced.' }),
    ),
    excludeFromMrr: Type.Optional(
      Type.Boolean({
        default: false,
        description: "Whether the item is left out of the order's monthly recurring revenue.",
      }),
    ),
    _embedded: ReadOnly(Type.Object({})),
    ...readOnlyNotSupportedYet({ usageStatus: null }),
  },
  {
    $id: 'SubscriptionItem',
    description: 'An item of an order.',
    additionalProperties: false,
    if: { not: { required: ['planId'] } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['plan'] },
  },
)

export const SubscriptionItemPatch = Type.Object(
  {
    quantityFilled: Type.Optional(SubscriptionItem.properties.quantityFilled),
    excludeFromMrr: Type.Optional(SubscriptionItem.properties.excludeFromMrr),
    plan: Nullable(
      Type.Object(
        { ...writeOnlyNotSupportedYet({ productOptions: null }) },
        { additionalProperties: false, description: 'Members of the plan.' },
      ),
    ),
  },
  {
    $id: 'SubscriptionItemPatch',
    additionalProperties: false,
    description: 'Members of an item to change.',
  },
)
export type SubscriptionItemPatch = Static<typeof SubscriptionItemPatch>

const { quantityFilled, excludeFromMrr } = SubscriptionItem.properties
const kept = <T extends TSchema>({ default: _, ...schema }: T & { default?: unknown }, what: string): T =>
  ({ ...schema, description: `${what} If it is missing, an item that stays keeps its own.` }) as unknown as T

/** Without defaults for what an item keeps that has its plan already. */
const ChangedItem: typeof SubscriptionItem = {
  ...Inside(SubscriptionItem),
  properties: {
    ...SubscriptionItem.properties,
    quantityFilled: kept(quantityFilled, 'Quantity that was fulfilled.'),
    excludeFromMrr: kept(
      excludeFromMrr,
      "Whether the item is left out of the order's monthly recurring revenue.",
    ),
  },
}

export const SubscriptionChange = Type.Object(
  {
    items: Type.Array(ChangedItem, {
      minItems: 1,
      maxItems: 100,
      description: 'The new items of the order: those that are not repeated go.',
    }),
    renewalPolicy: PartlySupported(
      [...RENEWAL_POLICIES],
      Type.Enum([...RENEWAL_POLICIES, 'retainTrialThenRecurring', 'retainTrialOnly'], {
        description:
          'retain keeps the end of the current period. reset begins a new period now, and ends a trial. retainRecurring and resetToRecurring are deprecated names of these; the others are not supported yet.',
      }),
    ),
    prorated: Type.Boolean({
      description:
        'Whether the unused part of the current period is credited, and the rest of it charged at the new prices: what remains at once, or a credit with the next invoice. Otherwise the new items are invoiced from the next invoice on.',
    }),
    preview: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether nothing is changed. The response shows the order as it would be, with what the change adds to an invoice as lineItems.',
      }),
    ),
    ...writeOnlyNotSupportedYet({ effectiveTime: null, keepTrial: false, ignoreRecurring: false }),
  },
  {
    $id: 'SubscriptionChange',
    additionalProperties: false,
    description: "A change of an order's items.",
  },
)
export type SubscriptionChange = Static<typeof SubscriptionChange>

export const Subscription = Type.Object(
  {
    ...resourceMembers,
    orderId: ReadOnly(Id('Same as `id`. Experimental.')),
    orderType: Type.Enum(['subscription-order', 'one-time-order'], {
      description: 'Type of the order. A one-time-order has plans of one-time sales only.',
    }),
    organizationId: ReadOnly(Id('Organization the order belongs to.')),
    customerId: Id('Customer who placed the order.'),
    websiteId: Id('Website on which the order was placed.'),
    items: Type.Array(Inside(SubscriptionItem), {
      minItems: 1,
      maxItems: 100,
      description: 'Items of the order.',
    }),
    status: ReadOnly(Type.Enum([...ORDER_STATUSES])),
    billingStatus: ReadOnly(
      Type.Enum([...INVOICE_STATUSES], { description: 'Status of the most recent invoice.' }),
    ),
    trial: Type.Optional(
      OrNull(
        Type.Object(
          {
            enabled: Type.Optional(
              Type.Boolean({
                description:
                  'Whether the order has a trial. If it is missing, it has one if there is an end.',
              }),
            ),
            endTime: Nullable(Instant('When the trial ends. Required when the trial is enabled.')),
          },
          {
            additionalProperties: false,
            description:
              'Trial of the order, which overrides those of the plans. If null, the trial of the plans applies.',
          },
        ),
      ),
    ),
    isTrialOnly: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether the order ends with the trial.' }),
    ),
    inTrial: ReadOnly(Type.Boolean()),
    isTrialConverted: ReadOnly(
      Type.Boolean({ description: 'Whether a successful payment followed the trial.' }),
    ),
    trialConversionTime: ReadOnly(
      OrNull(Instant('When the first invoice of more than zero after the trial was paid.')),
    ),
    recurringInterval: NullableOrderInterval,
    invoiceTimeShift: NullableTimeShift,
    delinquencyPeriod: Nullable(
      Type.String({
        format: 'duration',
        maxLength: 50,
        description:
          'How long after its due time an unpaid invoice cancels the order. If null, it does not cancel the order.',
      }),
    ),
    shipping: Type.Optional(
      OrNull(
        Type.Object(
          {
            amount: Type.Number({ minimum: 0, exclusiveMaximum: 1e12 }),
            calculator: Type.Optional(Type.Enum(['manual'], { default: 'manual' })),
          },
          { additionalProperties: false, description: 'Shipping, which is added to every invoice.' },
        ),
      ),
    ),
    currency: ReadOnly(Type.String({ description: 'ISO 4217 currency code of the plans.' })),
    autopay: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether invoices are charged automatically.' }),
    ),
    paymentInstrumentId: Nullable(
      Id(
        "Payment instrument that is charged. If it is missing or inactive, the customer's default payment instrument is charged.",
      ),
    ),
    startTime: Nullable(
      Instant('When the service begins, at most one period in the past. If null, it begins immediately.'),
    ),
    activationTime: ReadOnly(OrNull(Instant('When the order became active.'))),
    voidTime: ReadOnly(OrNull(Instant('When the order was voided.'))),
    renewalTime: Nullable(
      Instant(
        'When the next period begins. An update to another time ahead moves this boundary and the anchor of the following ones.',
      ),
    ),
    currentPeriodStart: ReadOnly(OrNull(Instant('When the current period or trial began.'))),
    currentPeriodEnd: ReadOnly(OrNull(Instant('When the current period or trial ends.'))),
    churnTime: ReadOnly(OrNull(Instant('When the service ends or ended.'))),
    rebillNumber: ReadOnly(
      OrNull(Type.Integer({ description: 'Number of the current period: 0 in the trial, then 1 and up.' })),
    ),
    initialInvoiceId: ReadOnly(OrNull(Id('Initial invoice.'))),
    recentInvoiceId: ReadOnly(OrNull(Id('Most recent invoice.'))),
    mrr: ReadOnly(
      Type.Number({
        description:
          'Monthly recurring revenue: the prices of the recurring items for a twelfth of a year, without setup and shipping. Zero unless the order is active and past its trial.',
      }),
    ),
    lineItems: ReadOnly(
      Type.Array(QueuedLine, {
        description:
          'Deprecated. What the next invoice has beside its own items, such as the credit of a change.',
      }),
    ),
    lineItemSubtotal: ReadOnly(
      Type.Object(
        { currency: Type.String(), amount: Type.Number() },
        { description: 'Deprecated. Sum of these: negative where credits exceed debits.' },
      ),
    ),
    canceledTime: ReadOnly(OrNull(Instant('When the order was canceled.'))),
    canceledBy: ReadOnly(OrNull(Type.Enum(['merchant', 'customer', 'rebilly-side']))),
    cancelCategory: ReadOnly(OrNull(Type.Enum([...CANCEL_CATEGORIES]))),
    cancelDescription: ReadOnly(OrNull(Text('Reason in free text.'))),
    billingPortalToken: ReadOnly(OrNull(Text('Experimental; always null.'))),
    abandonTime: Nullable(
      Instant(
        "When the order is abandoned if it is still pending. If null, the organization's setting applies.",
      ),
    ),
    deliveryAddress: Nullable(Contact),
    billingAddress: Nullable(Contact),
    riskMetadata: Type.Optional(
      OrNull(RiskMetadata, {
        description:
          "Risk metadata. If null, those captured with the token of the order's payment instrument are used.",
      }),
    ),
    poNumber: Nullable(Text('Purchase order number, shown on invoices.')),
    notes: Nullable(Type.String({ maxLength: 1000, description: 'Notes, shown on invoices.' })),
    customFields: CustomFields,
    couponIds: WriteOnly(
      OrNull(Type.Array(Id('Id of a coupon.'), { maxItems: 50 }), {
        description:
          'Coupons of the order, in the order of application. If null or omitted, they stay. A list redeems the coupons that the order does not have yet and cancels the redemptions of those that it does not name; an empty one cancels all. A change reissues the initial invoice of a pending order, and applies from the next invoice on while the order is active.',
      }),
    ),
    renewalReminderTime: ReadOnly(OrNull(Instant('When the next reminder of the renewal is sent.'))),
    renewalReminderNumber: ReadOnly(
      OrNull(Type.Integer({ minimum: 0, description: 'How many reminders of the next renewal were sent.' })),
    ),
    trialReminderTime: ReadOnly(OrNull(Instant("When the next reminder of the trial's end is sent."))),
    trialReminderNumber: ReadOnly(
      OrNull(Type.Integer({ minimum: 0, description: "How many reminders of the trial's end were sent." })),
    ),
    abandonReminderTime: ReadOnly(OrNull(Instant('When the next reminder of the abandonment is sent.'))),
    abandonReminderNumber: ReadOnly(
      OrNull(Type.Integer({ minimum: 0, description: 'How many reminders of the abandonment were sent.' })),
    ),
    clockOffset: ReadOnly(
      Type.Number({
        description: "Seconds by which the order's clock is ahead of real time (sandbox only).",
      }),
    ),
  },
  {
    $id: 'Subscription',
    additionalProperties: false,
    description: "A customer's order of one or more plans.",
  },
)
export type Subscription = Static<typeof Subscription>
