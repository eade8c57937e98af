import type { Plan } from '../entities/index.ts'
import { type Link, resourceUrl } from './links.ts'

/** A plan as the API and events show it. */
export function presentPlan(plan: Plan, baseUrl: string) {
  const self: Link = { rel: 'self', href: resourceUrl(baseUrl, plan.organizationId, 'plans', plan.id) }
  return {
    id: plan.id,
    name: plan.name,
    currency: plan.currency,
    pricing: { formula: plan.pricing.formula, price: Number(plan.pricing.price) },
    recurringInterval: plan.recurringInterval,
    isActive: plan.isActive,
    revision: plan.revision,
    createdTime: plan.createdTime.toISOString(),
    updatedTime: plan.updatedTime.toISOString(),
    _links: [self],
  }
}
