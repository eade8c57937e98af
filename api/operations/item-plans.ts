import { canonicalJson } from '../../billing/canonical-json.ts'
import type { FieldCode, InvalidField } from '../../billing/errors.ts'
import type { SubscriptionItem } from '../../commands/orders/create-order.ts'
import type { InlinePlan } from '../../db/entities/subscription.ts'
import type { ItemPlan } from '../schemas/subscription.ts'
import { planProblems, planTerms } from './plan-terms.ts'

/** Returns why a plan cannot be ordered, by field; a reference to a plan only needs an id. */
export function itemPlanProblems(
  plan: ItemPlan | undefined,
  planId: string | undefined,
  index: number,
): InvalidField[] {
  const failure = (member: string, code: FieldCode, message: string): InvalidField => ({
    field: `items.${index}.plan.${member}`,
    code,
    message,
  })
  const isRequired = (member: string) => failure(member, 'required', 'is required')
  if (plan === undefined || !isInline(plan)) {
    return (plan?.id ?? planId) === undefined ? [isRequired('id')] : []
  }
  const missing = (['name', 'currency'] as const).filter((member) => plan[member] == null)
  const problems = planProblems({ ...plan, currency: plan.currency ?? '' })
  return [
    ...missing.map(isRequired),
    ...problems.map(({ field, code, message }) => failure(field, code, message)),
  ]
}

/** Returns a reference to a plan, or the item's own plan with its terms. The item has no problems. */
export function itemPlanOf(
  plan: ItemPlan | undefined,
  planId: string | undefined,
): Pick<SubscriptionItem, 'plan' | 'ownTerms'> {
  const id = plan?.id ?? planId
  if (plan === undefined || !isInline(plan)) return { plan: { id: id ?? '' }, ownTerms: null }
  const terms = planTerms({ ...plan, currency: plan.currency ?? '' })
  const { pricing, recurringInterval, trial, setup, invoiceTimeShift } = terms
  const sent = {
    id,
    name: plan.name ?? '',
    description: plan.description,
    richDescription: plan.richDescription,
    productId: plan.productId,
    currency: plan.currency ?? '',
    pricing: plan.pricing == null ? null : pricing,
    recurringInterval,
    trial,
    isTrialOnly: plan.isTrialOnly,
    setup,
    invoiceTimeShift,
    isActive: plan.isActive,
    customFields: plan.customFields,
  }
  const members = Object.entries(sent).filter(([, value]) => value != null)
  return { plan: Object.fromEntries(members) as unknown as InlinePlan, ownTerms: terms }
}

/** True if a member besides the id has a value: null, false and empty values have none. */
function isInline(plan: ItemPlan): boolean {
  return Object.entries(plan).some(
    ([name, value]) => name !== 'id' && !NEUTRAL.includes(canonicalJson(value ?? null)),
  )
}

const NEUTRAL = ['null', 'false', '""', '{}', '[]']
