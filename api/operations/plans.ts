import { InvalidFieldsError } from '../../billing/errors.ts'
import { amountProblem } from '../../billing/money.ts'
import { createPlan } from '../../db/commands/create-plan.ts'
import { Plan as PlanRow } from '../../db/entities/index.ts'
import { presentPlan } from '../../db/representations/plan.ts'
import { command, type OperationAnswer, type OperationContext } from '../operation.ts'
import { answerCreated, readOne } from '../resource.ts'
import type { Plan } from '../schemas/plan.ts'

export async function create(context: OperationContext): Promise<OperationAnswer> {
  const body = context.body as Plan
  const problem = amountProblem(body.pricing.price, body.currency)
  if (problem !== null) throw new InvalidFieldsError([{ field: 'pricing.price', message: problem }])
  const row = await command(context, async (unit) =>
    createPlan(unit, {
      name: body.name,
      currency: body.currency,
      pricing: { formula: 'fixed-fee', price: String(body.pricing.price) },
      recurringInterval: { unit: body.recurringInterval.unit, length: body.recurringInterval.length },
      isActive: body.isActive ?? true,
    }),
  )
  return answerCreated(context, 'plans', row, presentPlan)
}

export async function read(context: OperationContext): Promise<OperationAnswer> {
  return await readOne(context, PlanRow, presentPlan)
}
