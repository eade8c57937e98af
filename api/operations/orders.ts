import { amountOf } from '../../billing/money.ts'
import { createSubscription, type NewSubscription } from '../../commands/orders/create-order.ts'
import { updateSubscription } from '../../commands/orders/update-order.ts'
import { Subscription as SubscriptionRow } from '../../db/entities/index.ts'
import { newestPlans, subscriptionSearch } from '../../db/entities/subscription.ts'
import { isGrandfathered, presentSubscription } from '../../representations/subscription.ts'
import { fieldsOf, reference } from '../query/fields.ts'
import type { Resource, Writer } from '../resources/resource.ts'
import { contactOf } from '../schemas/contact.ts'
import { riskOf } from '../schemas/risk-metadata.ts'
import { Subscription } from '../schemas/subscription.ts'
import { intervalOf, timeShiftOf } from './billing-terms.ts'
import { subscriptionExpanders } from './expand-order.ts'

export const subscriptions: Resource<SubscriptionRow> = {
  name: 'Subscription',
  label: 'subscription',
  path: 'subscriptions',
  schema: Subscription,
  entity: SubscriptionRow,
  table: 'subscriptions',
  computed: `${newestPlans('row.organization_id', 'row.items')} as newest_plans`,
  search: subscriptionSearch,
  fields: fieldsOf(Subscription, {
    customerId: reference('customer_id', 'customers'),
    orderId: { sql: 'row.id', type: 'text' },
    orderType: null,
    billingPortalToken: null,
    'billingAddress.hash': null,
    'deliveryAddress.hash': null,
    'lineItemSubtotal.currency': null,
    'lineItemSubtotal.amount': null,
    clockOffset: { sql: '(row.clock_offset / 1000.0)', type: 'number' },
  }),
  // A newer revision of its plan makes an item grandfathered without a change of the order.
  isVolatile: (row) => row.items.some((item) => isGrandfathered(item, row.newestPlans ?? {})),
  present: (row, { baseUrl }) => presentSubscription(row, baseUrl),
  expanders: subscriptionExpanders,
}

export const subscriptionWriter: Writer<SubscriptionRow, Subscription> = {
  checksCustomFields: true,
  create(unit, id, body) {
    return createSubscription(unit, id, { ...valuesOf(body), isTrialOnly: body.isTrialOnly ?? false })
  },
  update: (unit, row, body, context) =>
    updateSubscription(unit, row, {
      ...valuesOf(body),
      isTrialOnly: context.has('isTrialOnly') ? (body.isTrialOnly ?? false) : null,
      // Without If-Match, a boundary in the body may be outdated and is ignored.
      renewalTime: context.preconditions.ifMatch === null ? null : instant(body.renewalTime),
    }),
}

function valuesOf(body: Subscription): Omit<NewSubscription, 'isTrialOnly'> {
  return {
    customerId: body.customerId,
    websiteId: body.websiteId,
    items: body.items.map(itemOf),
    startTime: instant(body.startTime),
    abandonTime: instant(body.abandonTime),
    trial: body.trial == null ? null : { enabled: body.trial.enabled, endTime: iso(body.trial.endTime) },
    recurringInterval: intervalOf(body.recurringInterval),
    invoiceTimeShift: timeShiftOf(body.invoiceTimeShift),
    delinquencyPeriod: body.delinquencyPeriod ?? null,
    shipping: body.shipping == null ? null : { amount: amountOf(body.shipping.amount), calculator: 'manual' },
    autopay: body.autopay ?? true,
    paymentInstrumentId: body.paymentInstrumentId ?? null,
    deliveryAddress: contactOf(body.deliveryAddress),
    billingAddress: contactOf(body.billingAddress),
    riskMetadata: riskOf(body.riskMetadata),
    poNumber: body.poNumber ?? null,
    notes: body.notes ?? null,
    customFields: body.customFields ?? {},
  }
}

function itemOf({ plan, planId, quantity, quantityFilled, usageLimits }: Subscription['items'][number]) {
  return {
    // The schema guarantees the plan's id.
    plan: { id: plan?.id ?? planId ?? '' },
    quantity: quantity ?? 1,
    quantityFilled: quantityFilled ?? 0,
    usageLimits:
      usageLimits == null
        ? null
        : { softLimit: usageLimits.softLimit ?? null, hardLimit: usageLimits.hardLimit ?? null },
  }
}

function instant(text: string | null | undefined): Date | null {
  return text == null ? null : new Date(text)
}

function iso(text: string | null | undefined): string | null {
  return instant(text)?.toISOString() ?? null
}
