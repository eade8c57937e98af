import { currencySign, jsonAmount } from '../billing/money.ts'
import type { PlanTrial } from '../billing/order-terms.ts'
import type { Pricing } from '../billing/pricing.ts'
import type { Plan } from '../db/entities/index.ts'
import { presentInterval } from './interval.ts'
import { type Link, resourceUrl } from './links.ts'

export function presentPlan(plan: Plan, baseUrl: string) {
  const self: Link = { rel: 'self', href: resourceUrl(baseUrl, plan.organizationId, 'plans', plan.id) }
  const product: Link[] =
    plan.productId == null
      ? []
      : [{ rel: 'product', href: resourceUrl(baseUrl, plan.organizationId, 'products', plan.productId) }]
  return {
    id: plan.id,
    name: plan.name,
    description: plan.description ?? null,
    richDescription: plan.richDescription ?? null,
    productId: plan.productId ?? null,
    currency: plan.currency,
    currencySign: currencySign(plan.currency),
    pricing: presentPricing(plan.pricing),
    recurringInterval: presentInterval(plan.recurringInterval),
    trial: plan.trial == null ? null : presentTrial(plan.trial),
    isTrialOnly: plan.isTrialOnly,
    setup: plan.setup == null ? null : { price: jsonAmount(plan.setup.price) },
    invoiceTimeShift: plan.invoiceTimeShift ?? null,
    isActive: plan.isActive,
    customFields: plan.customFields ?? {},
    revision: plan.revision,
    createdTime: plan.createdTime.toISOString(),
    updatedTime: plan.updatedTime.toISOString(),
    _links: [self, ...product],
  }
}

export function presentTrial(trial: PlanTrial) {
  return { ...trial, price: jsonAmount(trial.price) }
}

export function presentPricing(pricing: Pricing) {
  if (!('brackets' in pricing)) {
    const { formula } = pricing
    const price = jsonAmount(pricing.price)
    return formula === 'fixed-fee'
      ? { formula, price }
      : { formula, price, minQuantity: pricing.minQuantity ?? null, maxQuantity: pricing.maxQuantity ?? null }
  }
  const brackets = pricing.brackets.map(({ price, maxQuantity }) => ({
    price: jsonAmount(price),
    maxQuantity,
  }))
  return { formula: pricing.formula, brackets, minQuantity: pricing.minQuantity ?? null }
}
