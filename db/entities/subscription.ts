import { defineEntity, p } from '@mikro-orm/core'
import type { Contact } from '../../billing/contacts.ts'
import type { DeclinedRenewals } from '../../billing/dunning.ts'
import type { InvoiceLine, InvoiceStatus } from '../../billing/invoices.ts'
import type { CancelCategory, CanceledBy, OrderStatus } from '../../billing/order.ts'
import type { DueKind } from '../../billing/order-lifecycle.ts'
import type {
  InvoiceTimeShift,
  OrderInterval,
  PlanTrial,
  PricedPlan,
  RecurringInterval,
} from '../../billing/order-terms.ts'
import type { Pricing } from '../../billing/pricing.ts'
import type { ChangedPeriod } from '../../billing/prorated-periods.ts'
import type { DerivedRisk, RiskInput } from '../../billing/risk.ts'
import {
  EMPTY_ARRAY,
  id,
  instant,
  json,
  listIndexes,
  quarantineColumns,
  quarantineIndex,
  resourceColumns,
  searchExpression,
  tenantKey,
} from './columns.ts'

export interface UsageLimit {
  quantity?: number
  amount?: number
}

/** Members without a value are left out, so that equal limits are equal documents. */
export interface UsageLimits {
  softLimit: UsageLimit | null
  hardLimit: UsageLimit | null
  trialLimit?: number
}

export type OrderType = 'subscription-order' | 'one-time-order'

/** With the members that were sent; its terms are in the item's priced plan. */
export interface InlinePlan {
  /** The plan that it is a version of. */
  id?: string
  name: string
  description?: string
  richDescription?: string
  productId?: string
  currency: string
  pricing?: Pricing
  recurringInterval?: RecurringInterval
  trial?: PlanTrial
  isTrialOnly?: boolean
  setup?: { price: string }
  invoiceTimeShift?: InvoiceTimeShift
  isActive?: boolean
  customFields?: Record<string, unknown>
}

export interface OrderItem {
  id: string
  plan: { id: string } | InlinePlan
  quantity: number
  quantityFilled: number
  usageLimits: UsageLimits | null
  /** True if its price is no part of the monthly recurring revenue; left out otherwise. */
  excludeFromMrr?: true
  /** Counts changes of the members above, from 1. */
  revision: number
  /** As it was when the item was priced. An item's own plan has the revision 1. */
  priced: PricedPlan & { readonly revision: number }
}

export function isInlinePlan(plan: OrderItem['plan']): plan is InlinePlan {
  return 'name' in plan
}

export const subscriptionSearch = searchExpression(
  'customer_id',
  'website_id',
  'status',
  'currency',
  'po_number',
  'notes',
)

export const newestPlans = (organizationId: string, items: string) =>
  `(select jsonb_object_agg(plan.id, plan.revision) from plans plan where plan.organization_id = ${organizationId}
      and plan.id in (select item #>> '{plan,id}' from jsonb_array_elements(${items}) item))`

const SubscriptionSchema = defineEntity({
  name: 'Subscription',
  tableName: 'subscriptions',
  indexes: [
    quarantineIndex('subscriptions'),
    ...listIndexes('subscriptions', subscriptionSearch),
    { name: 'subscriptions_customer_index', properties: ['organizationId', 'customerId'] },
    {
      name: 'subscriptions_next_deadline_index',
      expression:
        'create index "subscriptions_next_deadline_index" on "subscriptions" ("next_deadline") where "next_deadline" is not null',
    },
    {
      name: 'subscriptions_due_index',
      expression:
        'create index "subscriptions_due_index" on "subscriptions" ("organization_id", "next_deadline") where "next_deadline" is not null',
    },
    {
      name: 'subscriptions_moved_clock_index',
      expression:
        'create index "subscriptions_moved_clock_index" on "subscriptions" ("next_deadline") where "clock_offset" > 0',
    },
  ],
  properties: {
    ...tenantKey,
    orderType: p.string().length(20).default('subscription-order').$type<OrderType>(),
    customerId: id(),
    websiteId: id(),
    items: json<OrderItem[]>(),
    /** Computed when the row is read, because a change of a plan does not change the order. */
    newestPlans: json<Record<string, number>>()
      .formula((columns) => newestPlans(`${columns.organizationId}`, `${columns.items}`))
      .nullable(),
    status: p.string().length(20).$type<OrderStatus>(),
    currency: p.string().length(3),
    startTime: instant(),
    abandonTime: instant().nullable(),
    activationTime: instant().nullable(),
    voidTime: instant().nullable(),
    /** In place of the plans' trial. */
    trial: json<{ enabled: boolean; endTime: string | null }>().nullable(),
    /** When the trial was last changed; null: never since its creation. */
    trialGivenTime: instant().nullable(),
    isTrialOnly: p.boolean().default(false),
    recurringInterval: json<OrderInterval>().nullable(),
    invoiceTimeShift: json<InvoiceTimeShift>().nullable(),
    delinquencyPeriod: p.string().nullable(),
    /** In the order of application. */
    couponIds: json<string[]>().defaultRaw(EMPTY_ARRAY),
    /** The amount is a decimal string. */
    shipping: json<{ amount: string; calculator: 'manual' }>().nullable(),
    inTrial: p.boolean().default(false),
    isTrialConverted: p.boolean().default(false),
    trialConversionTime: instant().nullable(),
    rebillNumber: p.integer().nullable(),
    renewalTime: instant().nullable(),
    /** A decimal string. */
    mrr: p.decimal().precision(24).scale(6).default('0').$type<string>(),
    canceledTime: instant().nullable(),
    /** The one in force; null: none, or for delinquency. */
    cancellationId: id().nullable(),
    churnTime: instant().nullable(),
    canceledBy: p.string().length(20).nullable().$type<CanceledBy | null>(),
    cancelCategory: p.string().length(30).nullable().$type<CancelCategory | null>(),
    cancelDescription: p.string().nullable(),
    billingStatus: p.string().length(20).default('draft').$type<InvoiceStatus>(),
    initialInvoiceId: id().nullable(),
    recentInvoiceId: id().nullable(),
    /** Where period `anchorNumber` begins; every later boundary counts from it. */
    anchorTime: instant().nullable(),
    anchorNumber: p.integer().default(1),
    periodStart: instant().nullable(),
    periodEnd: instant().nullable(),
    /** Highest period with an issued invoice. */
    invoicedThrough: p.integer().default(0),
    nextInvoice: p.integer().default(1),
    /** For the next invoice. Amounts are decimal strings, those of credits negative. */
    queuedLines: json<InvoiceLine[]>().defaultRaw(EMPTY_ARRAY),
    /** `time`: milliseconds in all. */
    pausedPeriod: json<{ period: number; time: number }>().nullable(),
    /** What prorated changes made of how a period is billed. Amounts are decimal strings. */
    changedPeriod: json<ChangedPeriod>().nullable(),
    proratesChurn: p.boolean().default(false),
    /** Nothing is due before this; null: its creation. */
    notBefore: instant().nullable(),
    autopay: p.boolean().default(true),
    /** null: the customer's default instrument. */
    paymentInstrumentId: id().nullable(),
    /** When a charge was last made more than an hour late. */
    lateChargeTime: instant().nullable(),
    declinedRenewals: json<DeclinedRenewals>().nullable(),
    /** On the order's own clock; null: no charge is planned. */
    nextChargeTime: instant().nullable(),
    /** Reminders before this are not sent; null: before it was last advanced. */
    remindersFrom: instant().nullable(),
    renewalReminderTime: instant().nullable(),
    renewalReminderNumber: p.integer().nullable(),
    trialReminderTime: instant().nullable(),
    trialReminderNumber: p.integer().nullable(),
    abandonReminderTime: instant().nullable(),
    abandonReminderNumber: p.integer().nullable(),
    deliveryAddress: json<Contact>().nullable(),
    billingAddress: json<Contact>().nullable(),
    riskMetadata: json<RiskInput & DerivedRisk>().nullable(),
    notes: p.text().nullable(),
    poNumber: p.string().nullable(),
    customFields: json<Record<string, unknown>>().nullable(),
    /** On the order's own clock; null: never. */
    nextDeadline: instant().nullable(),
    /** What is due then; null: unknown, or nothing. */
    nextDueKind: p.string().length(20).nullable().$type<DueKind | 'charge' | null>(),
    /** On the order's own clock; advancing to an earlier instant has no effect. */
    advancedTo: instant().nullable(),
    /** Of the order or its invoices, on its own clock. */
    lastEventTime: instant().nullable(),
    /** Milliseconds by which the order's own clock is ahead of real time (sandbox). */
    clockOffset: p.bigint('number').default(0),
    /** null: the clock is at rest. */
    movingTo: instant().nullable(),
    ...quarantineColumns,
    ...resourceColumns,
  },
})

export class Subscription extends SubscriptionSchema.class {}
SubscriptionSchema.setClass(Subscription)
