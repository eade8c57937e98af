import { InvalidFieldsError } from '../../billing/errors.ts'
import { amountProblem } from '../../billing/money.ts'
import { createPlan, type NewPlan } from '../../db/commands/create-plan.ts'
import { Plan as PlanRow } from '../../db/entities/index.ts'
import { planSearch } from '../../db/entities/plan.ts'
import { presentPlan } from '../../db/representations/plan.ts'
import { fieldsOf } from '../query/fields.ts'
import type { Resource, Writer } from '../resource.ts'
import { Plan } from '../schemas/plan.ts'

export const plans: Resource<PlanRow> = {
  name: 'Plan',
  label: 'plan',
  path: 'plans',
  schema: Plan,
  entity: PlanRow,
  table: 'plans',
  search: planSearch,
  fields: fieldsOf(Plan),
  present: (row, { baseUrl }) => presentPlan(row, baseUrl),
}

export const planWriter: Writer<PlanRow, Plan> = {
  create: (unit, id, body) => createPlan(unit, id, valuesOf(body)),
  update: (_, row, body) => void Object.assign(row, valuesOf(body)),
}

/** @throws InvalidFieldsError when the price has more decimals than the currency. */
function valuesOf(body: Plan): NewPlan {
  const problem = amountProblem(body.pricing.price, body.currency)
  if (problem !== null) throw new InvalidFieldsError([{ field: 'pricing.price', message: problem }])
  return {
    name: body.name,
    currency: body.currency,
    pricing: { formula: 'fixed-fee', price: String(body.pricing.price) },
    recurringInterval: { unit: body.recurringInterval.unit, length: body.recurringInterval.length },
    isActive: body.isActive ?? true,
  }
}
