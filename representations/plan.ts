import { jsonAmount } from '../billing/money.ts'
import type { Pricing } from '../billing/pricing.ts'
import type { Plan } from '../db/entities/index.ts'
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
    productId: plan.productId ?? null,
    currency: plan.currency,
    pricing: presentPricing(plan.pricing),
    recurringInterval: plan.recurringInterval ?? null,
    trial: plan.trial == null ? null : { ...plan.trial, price: jsonAmount(plan.trial.price) },
    isTrialOnly: plan.isTrialOnly,
    setup: plan.setup == null ? null : { price: jsonAmount(plan.setup.price) },
    invoiceTimeShift: plan.invoiceTimeShift ?? null,
    isActive: plan.isActive,
    revision: plan.revision,
    createdTime: plan.createdTime.toISOString(),
    updatedTime: plan.updatedTime.toISOString(),
    _links: [self, ...product],
  }
}

function presentPricing(pricing: Pricing) {
  if (!('brackets' in pricing)) {
    return { formula: pricing.formula, price: jsonAmount(pricing.price) }
  }
  const brackets = pricing.brackets.map(({ price, maxQuantity }) => ({
    price: jsonAmount(price),
    maxQuantity,
  }))
  return { formula: pricing.formula, brackets }
}
