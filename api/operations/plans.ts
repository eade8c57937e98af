import { InvalidFieldsError } from '../../billing/errors.ts'
import { currencies, currencySign } from '../../billing/money.ts'
import { createPlan, type NewPlan, requireProduct } from '../../commands/catalog/create-plan.ts'
import { requireUnreferenced } from '../../commands/references.ts'
import { Plan as PlanRow } from '../../db/entities/index.ts'
import { planSearch } from '../../db/entities/plan.ts'
import { presentPlan } from '../../representations/plan.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { fieldsOf } from '../query/fields.ts'
import { remove } from '../resources/delete.ts'
import type { Resource, Writer } from '../resources/resource.ts'
import { Plan } from '../schemas/plan.ts'
import { planProblems, planTerms } from './plan-terms.ts'

export const plans: Resource<PlanRow> = {
  name: 'Plan',
  label: 'plan',
  path: 'plans',
  schema: Plan,
  entity: PlanRow,
  table: 'plans',
  search: planSearch,
  fields: fieldsOf(Plan, { currencySign: { sql: signExpression(), type: 'text', always: true } }),
  present: (row, { baseUrl }) => presentPlan(row, baseUrl),
}

export const planWriter: Writer<PlanRow, Plan> = {
  create: (unit, id, body) => createPlan(unit, id, valuesOf(body)),
  async update(unit, row, body) {
    const values = valuesOf(body)
    await requireProduct(unit, values)
    Object.assign(row, values)
  },
}

/** Responds with 409 while an order, even an ended one, refers to it. */
export async function deletePlan(context: OperationContext): Promise<OperationResponse> {
  return await remove(context, plans, (unit, row) => requireUnreferenced(unit, 'plans', row.id))
}

function valuesOf(body: Plan): NewPlan {
  const problems = planProblems(body)
  if (problems.length > 0) throw new InvalidFieldsError(problems)
  return {
    name: body.name,
    description: body.description ?? null,
    richDescription: body.richDescription ?? null,
    productId: body.productId ?? null,
    currency: body.currency,
    ...planTerms(body),
    isActive: body.isActive ?? true,
    customFields: body.customFields ?? {},
  }
}

function signExpression(): string {
  const signs = currencies().map((code) => `when '${code}' then '${currencySign(code)}'`)
  return `(case row.currency ${signs.join(' ')} else row.currency end)`
}
