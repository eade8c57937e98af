import { InvalidFieldsError } from '../../billing/errors.ts'
import { amountOf } from '../../billing/money.ts'
import { lockSubscription } from '../../commands/orders/advance-order.ts'
import {
  createSubscription,
  type NewSubscription,
  type SubscriptionItem,
} from '../../commands/orders/create-order.ts'
import { deleteSubscription } from '../../commands/orders/delete-order.ts'
import { updateItem, updateSubscription } from '../../commands/orders/update-order.ts'
import { Subscription as SubscriptionRow } from '../../db/entities/index.ts'
import {
  newestPlans,
  subscriptionSearch,
  type UsageLimit,
  type UsageLimits,
} from '../../db/entities/subscription.ts'
import { isGrandfathered, presentItem, presentSubscription } from '../../representations/subscription.ts'
import { requirePreconditions } from '../http/preconditions.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { constant, fieldsOf, reference } from '../query/fields.ts'
import { remove } from '../resources/delete.ts'
import { notFound, type Resource, type Writer } from '../resources/resource.ts'
import { contactOf } from '../schemas/contact.ts'
import { riskOf } from '../schemas/risk-metadata.ts'
import { Subscription, type SubscriptionItemPatch } from '../schemas/subscription.ts'
import { orderIntervalOf, timeShiftOf } from './billing-terms.ts'
import { subscriptionExpanders } from './expand-order.ts'
import { instantOf } from './instants.ts'
import { itemPlanOf, itemPlanProblems } from './item-plans.ts'

/** The queue and what the current period has used, as `presentSubscription` sums them. */
const LINE_ITEM_SUBTOTAL = `(select coalesce(sum((line ->> 'amount')::numeric), 0) from jsonb_array_elements(row.queued_lines ||
   case when (row.changed_period ->> 'number')::int = row.rebill_number then coalesce(row.changed_period -> 'used', '[]') else '[]' end) line)`

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
    currentPeriodStart: { sql: 'row.period_start', type: 'time' },
    currentPeriodEnd: { sql: 'row.period_end', type: 'time' },
    billingPortalToken: constant(null),
    'billingAddress.hash': null,
    'deliveryAddress.hash': null,
    'lineItemSubtotal.currency': { sql: 'row.currency', type: 'text', folded: 'upper', always: true },
    'lineItemSubtotal.amount': { sql: LINE_ITEM_SUBTOTAL, type: 'number', always: true },
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
    return createSubscription(unit, id, { ...valuesOf(body, null), isTrialOnly: body.isTrialOnly ?? false })
  },
  update(unit, row, body, context) {
    const values = valuesOf(body, row)
    return updateSubscription(unit, row, {
      ...values,
      startTime: context.has('startTime') ? values.startTime : undefined,
      trial: context.has('trial') ? values.trial : undefined,
      recurringInterval: context.has('recurringInterval') ? values.recurringInterval : undefined,
      isTrialOnly: context.has('isTrialOnly') ? (body.isTrialOnly ?? false) : null,
      renewalTime: instantOf(body.renewalTime, row.renewalTime),
    })
  },
}

export async function patchItem(context: OperationContext): Promise<OperationResponse> {
  const { id = '', itemId = '' } = context.params
  return await context.commit(async (unit) => {
    const row = await lockSubscription(unit, id)
    if (row === null) throw notFound(subscriptions, id)
    requirePreconditions(context.preconditions, row.revision)
    const body = context.body<SubscriptionItemPatch>()
    const item = await updateItem(unit, row, itemId, {
      quantityFilled: context.has('quantityFilled') ? (body.quantityFilled ?? 0) : undefined,
      excludeFromMrr: context.has('excludeFromMrr') ? (body.excludeFromMrr ?? false) : undefined,
    })
    if (item === null) throw notFound({ label: 'item of the subscription' }, itemId)
    return { body: presentItem(item, row.newestPlans ?? {}) }
  })
}

/** Responds with 409 for an order that was ever due. */
export async function deleteOrder(context: OperationContext): Promise<OperationResponse> {
  return await remove(context, subscriptions, deleteSubscription)
}

function valuesOf(body: Subscription, row: SubscriptionRow | null): Omit<NewSubscription, 'isTrialOnly'> {
  return {
    orderType: body.orderType as NewSubscription['orderType'],
    customerId: body.customerId,
    websiteId: body.websiteId,
    items: itemsOf(body.items),
    startTime: instantOf(body.startTime, row?.startTime),
    abandonTime: instantOf(body.abandonTime, row?.abandonTime),
    trial: trialOf(body.trial, row),
    recurringInterval: orderIntervalOf(body.recurringInterval),
    invoiceTimeShift: timeShiftOf(body.invoiceTimeShift),
    delinquencyPeriod: body.delinquencyPeriod ?? null,
    couponIds: body.couponIds ?? null,
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

/** A trial without members sets nothing. */
function trialOf(body: Subscription['trial'], row: SubscriptionRow | null): NewSubscription['trial'] {
  if (body == null || (body.enabled == null && body.endTime == null)) return null
  const stored = row?.trial?.endTime == null ? null : new Date(row.trial.endTime)
  const endTime = instantOf(body.endTime, stored)?.toISOString() ?? null
  return { enabled: body.enabled ?? endTime !== null, endTime }
}

/** Throws InvalidFieldsError for members that an item's own plan needs, or that break a rule of plans. */
export function itemsOf(items: Subscription['items']): SubscriptionItem[] {
  const problems = items.flatMap((item, index) => itemPlanProblems(item.plan, item.planId, index))
  if (problems.length > 0) throw new InvalidFieldsError(problems)
  return items.map(itemOf)
}

function itemOf({
  plan,
  planId,
  quantity,
  quantityFilled,
  usageLimits,
  excludeFromMrr,
}: Subscription['items'][number]): SubscriptionItem {
  return {
    ...itemPlanOf(plan, planId),
    quantity: quantity ?? 1,
    quantityFilled,
    usageLimits: usageLimitsOf(usageLimits),
    excludeFromMrr,
  }
}

function usageLimitsOf(given: Subscription['items'][number]['usageLimits']): UsageLimits | null {
  if (given == null) return null
  const limit = (one: typeof given.softLimit): UsageLimit | null =>
    one == null
      ? null
      : {
          ...(one.quantity == null ? {} : { quantity: one.quantity }),
          ...(one.amount == null ? {} : { amount: one.amount }),
        }
  return {
    softLimit: limit(given.softLimit),
    hardLimit: limit(given.hardLimit),
    ...(given.trialLimit == null ? {} : { trialLimit: given.trialLimit }),
  }
}
