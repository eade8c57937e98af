import type { InvoiceTimeShift, PlanTrial, RecurringInterval } from '../../billing/order-terms.ts'
import type { Pricing } from '../../billing/pricing.ts'
import { Plan, Product } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { references } from '../references.ts'

export interface NewPlan {
  readonly name: string
  readonly description: string | null
  readonly richDescription: string | null
  readonly productId: string | null
  readonly currency: string
  readonly pricing: Pricing
  readonly recurringInterval: RecurringInterval | null
  readonly trial: PlanTrial | null
  readonly isTrialOnly: boolean
  readonly setup: { price: string } | null
  readonly invoiceTimeShift: InvoiceTimeShift | null
  readonly isActive: boolean
  readonly customFields: Record<string, unknown>
}

/** @throws InvalidFieldsError naming `productId`. */
export async function createPlan(unit: UnitOfWork, id: string, given: NewPlan): Promise<Plan> {
  await requireProduct(unit, given)
  return unit.create(Plan, {
    id,
    ...given,
  })
}

export async function requireProduct(
  unit: UnitOfWork,
  { productId }: Pick<NewPlan, 'productId'>,
): Promise<void> {
  const found = references(unit)
  await found.optional(Product, 'productId', productId)
  found.check()
}
