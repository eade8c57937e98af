import type { InvoiceTimeShift, PlanTrial, RecurringInterval } from '../../billing/order-terms.ts'
import type { Pricing } from '../../billing/pricing.ts'
import { Plan } from '../entities/plan.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

export interface NewPlan {
  readonly name: string
  readonly currency: string
  readonly pricing: Pricing
  readonly recurringInterval: RecurringInterval | null
  readonly trial: PlanTrial | null
  readonly isTrialOnly: boolean
  readonly setup: { price: string } | null
  readonly invoiceTimeShift: InvoiceTimeShift | null
  readonly isActive: boolean
}

/** Adds a plan to the organization. */
export function createPlan(unit: UnitOfWork, id: string, given: NewPlan): Plan {
  const plan = unit.em.create(Plan, {
    organizationId: unit.organizationId,
    id,
    ...given,
    revision: 1,
    createdTime: unit.now,
    updatedTime: unit.now,
  })
  unit.em.persist(plan)
  return plan
}
