import { currencySign, jsonAmount } from '../billing/money.ts'
import { ownValue } from '../billing/own-value.ts'
import { subtotal } from '../billing/proration.ts'
import type { Subscription } from '../db/entities/index.ts'
import { isInlinePlan, type OrderItem, type UsageLimits } from '../db/entities/subscription.ts'
import { presentContact } from './contact.ts'
import { presentInterval, presentOrderInterval } from './interval.ts'
import { type Link, resourceUrl } from './links.ts'
import { presentPricing, presentTrial } from './plan.ts'
import { presentQueuedLine } from './queued-line.ts'

export function subscriptionLinks(order: Subscription, baseUrl: string): Link[] {
  const url = (...segments: string[]) => resourceUrl(baseUrl, order.organizationId, ...segments)
  return [
    { rel: 'self', href: url('subscriptions', order.id) },
    { rel: 'customer', href: url('customers', order.customerId) },
    { rel: 'website', href: url('websites', order.websiteId) },
    ...(order.initialInvoiceId == null
      ? []
      : [{ rel: 'initialInvoice', href: url('invoices', order.initialInvoiceId) }]),
    ...(order.recentInvoiceId == null
      ? []
      : [{ rel: 'recentInvoice', href: url('invoices', order.recentInvoiceId) }]),
  ]
}

export function presentSubscription(order: Subscription, baseUrl: string) {
  return {
    id: order.id,
    orderId: order.id,
    orderType: order.orderType,
    organizationId: order.organizationId,
    customerId: order.customerId,
    websiteId: order.websiteId,
    items: order.items.map((item) => presentItem(item, order.newestPlans ?? {})),
    status: order.status,
    billingStatus: order.billingStatus,
    currency: order.currency,
    trial: order.trial ?? null,
    isTrialOnly: order.isTrialOnly,
    inTrial: order.inTrial,
    isTrialConverted: order.isTrialConverted,
    trialConversionTime: time(order.trialConversionTime),
    recurringInterval: presentOrderInterval(order.recurringInterval),
    invoiceTimeShift: order.invoiceTimeShift ?? null,
    delinquencyPeriod: order.delinquencyPeriod ?? null,
    autopay: order.autopay,
    paymentInstrumentId: order.paymentInstrumentId ?? null,
    startTime: order.startTime.toISOString(),
    activationTime: time(order.activationTime),
    voidTime: time(order.voidTime),
    abandonTime: time(order.abandonTime),
    renewalTime: time(order.renewalTime),
    currentPeriodStart: time(order.periodStart),
    currentPeriodEnd: time(order.periodEnd),
    churnTime: time(order.churnTime),
    rebillNumber: order.rebillNumber ?? null,
    initialInvoiceId: order.initialInvoiceId ?? null,
    recentInvoiceId: order.recentInvoiceId ?? null,
    mrr: jsonAmount(order.mrr),
    ...presentQueue(order),
    shipping:
      order.shipping == null
        ? null
        : { amount: jsonAmount(order.shipping.amount), calculator: order.shipping.calculator },
    canceledTime: time(order.canceledTime),
    canceledBy: order.canceledBy ?? null,
    cancelCategory: order.cancelCategory ?? null,
    cancelDescription: order.cancelDescription ?? null,
    deliveryAddress: presentContact(order.deliveryAddress),
    billingAddress: presentContact(order.billingAddress),
    riskMetadata: order.riskMetadata ?? null,
    poNumber: order.poNumber ?? null,
    notes: order.notes ?? null,
    customFields: order.customFields ?? {},
    renewalReminderTime: time(order.renewalReminderTime),
    renewalReminderNumber: order.renewalReminderNumber ?? null,
    trialReminderTime: time(order.trialReminderTime),
    trialReminderNumber: order.trialReminderNumber ?? null,
    abandonReminderTime: time(order.abandonReminderTime),
    abandonReminderNumber: order.abandonReminderNumber ?? null,
    billingPortalToken: null,
    clockOffset: order.clockOffset / 1000,
    revision: order.revision,
    createdTime: order.createdTime.toISOString(),
    updatedTime: order.updatedTime.toISOString(),
    _links: subscriptionLinks(order, baseUrl),
  }
}

/** What the next invoice has beside the current prices. */
function presentQueue({ queuedLines, changedPeriod, rebillNumber, currency }: Subscription) {
  const used = changedPeriod?.number === rebillNumber ? (changedPeriod?.used ?? []) : []
  const lines = [...queuedLines, ...used]
  return {
    lineItems: lines.map((line) => presentQueuedLine(line, currency)),
    lineItemSubtotal: { currency, amount: jsonAmount(subtotal(lines)) },
  }
}

export function presentItem(item: OrderItem, newest: Readonly<Record<string, number>>) {
  return {
    id: item.id,
    plan: presentItemPlan(item.plan),
    ...(item.plan.id === undefined ? {} : { planId: item.plan.id }),
    quantity: item.quantity,
    quantityFilled: item.quantityFilled,
    usageLimits: presentUsageLimits(item.usageLimits),
    excludeFromMrr: item.excludeFromMrr ?? false,
    revision: item.revision,
    isModified: isInlinePlan(item.plan),
    isGrandfathered: isGrandfathered(item, newest),
    _embedded: {},
  }
}

function presentUsageLimits(limits: UsageLimits | null) {
  if (limits === null) return null
  const limit = (given: UsageLimits['softLimit']) =>
    given === null ? null : { quantity: given.quantity ?? null, amount: given.amount ?? null }
  return {
    softLimit: limit(limits.softLimit),
    hardLimit: limit(limits.hardLimit),
    trialLimit: limits.trialLimit ?? null,
  }
}

function presentItemPlan(plan: OrderItem['plan']) {
  if (!isInlinePlan(plan)) return { id: plan.id }
  const { pricing, recurringInterval, trial, setup, ...others } = plan
  return {
    ...others,
    currencySign: currencySign(plan.currency),
    ...(pricing === undefined ? {} : { pricing: presentPricing(pricing) }),
    ...(recurringInterval === undefined ? {} : { recurringInterval: presentInterval(recurringInterval) }),
    ...(trial === undefined ? {} : { trial: presentTrial(trial) }),
    ...(setup === undefined ? {} : { setup: { price: jsonAmount(setup.price) } }),
  }
}

/** True if the plan has a newer revision than the item was priced with. */
export function isGrandfathered(item: OrderItem, newest: Readonly<Record<string, number>>): boolean {
  return !isInlinePlan(item.plan) && (ownValue(newest, item.plan.id) ?? 0) > item.priced.revision
}

function time(value: Date | null | undefined): string | null {
  return value?.toISOString() ?? null
}
