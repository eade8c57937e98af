import { type FieldCode, type InvalidField, InvalidFieldsError } from '../../billing/errors.ts'
import { amountOf, amountProblem, currencies, currencySign } from '../../billing/money.ts'
import type { Period } from '../../billing/periods.ts'
import { bracketsProblem, type Pricing } from '../../billing/pricing.ts'
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
import { intervalOf, timeShiftOf } from './billing-terms.ts'

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

/** DELETE: 409 while an order, even an ended one, refers to it. */
export async function deletePlan(context: OperationContext): Promise<OperationResponse> {
  return await remove(context, plans, (unit, row) => requireUnreferenced(unit, 'plans', row.id))
}

/** @throws InvalidFieldsError for amounts that the currency cannot express and prices that do not fit the formula. */
function valuesOf(body: Plan): NewPlan {
  const pricing = body.pricing ?? (isTrialAlone(body) ? FREE : null)
  const problems = problemsOf(body, pricing)
  if (problems.length > 0 || pricing === null) throw new InvalidFieldsError(problems)
  return {
    name: body.name,
    description: body.description ?? null,
    richDescription: body.richDescription ?? null,
    productId: body.productId ?? null,
    currency: body.currency,
    pricing: pricingOf(pricing),
    recurringInterval: intervalOf(body.recurringInterval),
    trial:
      body.trial == null
        ? null
        : {
            price: amountOf(body.trial.price),
            period: { unit: body.trial.period.unit as Period['unit'], length: body.trial.period.length },
          },
    isTrialOnly: body.isTrialOnly ?? false,
    setup: body.setup == null ? null : { price: amountOf(body.setup.price) },
    invoiceTimeShift: timeShiftOf(body.invoiceTimeShift),
    isActive: body.isActive ?? true,
    customFields: body.customFields ?? {},
  }
}

type GivenPricing = NonNullable<Plan['pricing']>

/** The price of a plan that ends with its trial: it has no other. */
const FREE: GivenPricing = { formula: 'fixed-fee', price: 0 }

function isTrialAlone({ trial, isTrialOnly, recurringInterval }: Plan): boolean {
  return trial != null && (isTrialOnly === true || recurringInterval == null)
}

function pricingOf({ formula, price, brackets, minQuantity, maxQuantity }: GivenPricing): Pricing {
  if (formula === 'fixed-fee') return { formula, price: amountOf(price ?? 0) }
  const limits = minQuantity == null ? {} : { minQuantity }
  if (formula === 'flat-rate') {
    return {
      formula,
      price: amountOf(price ?? 0),
      ...limits,
      ...(maxQuantity == null ? {} : { maxQuantity }),
    }
  }
  return {
    ...limits,
    formula: formula as 'tiered' | 'volume' | 'stairstep',
    brackets: (brackets ?? []).map((bracket) => ({
      price: amountOf(bracket.price),
      maxQuantity: bracket.maxQuantity ?? null,
    })),
  }
}

function problemsOf(
  { currency, trial, setup, isTrialOnly }: Plan,
  pricing: GivenPricing | null,
): InvalidField[] {
  const problems: InvalidField[] = []
  const fail = (field: string, code: FieldCode, message: string) =>
    void problems.push({ field, code, message })
  const amount = (field: string, value: number) => {
    const problem = amountProblem(amountOf(value), currency)
    if (problem !== null) fail(field, problem.code, problem.message)
  }
  if (trial != null) amount('trial.price', trial.price)
  if (setup != null) amount('setup.price', setup.price)
  if (isTrialOnly === true && trial == null) fail('isTrialOnly', 'mismatch', 'requires a trial')
  if (pricing === null) {
    fail('pricing', 'required', 'is required')
    return problems
  }
  const { formula, minQuantity, maxQuantity } = pricing
  if (formula === 'fixed-fee' && minQuantity != null)
    fail('pricing.minQuantity', 'not-supported', `is not supported for ${formula}`)
  if (formula !== 'flat-rate' && maxQuantity != null)
    fail('pricing.maxQuantity', 'not-supported', `is not supported for ${formula}`)
  if (minQuantity != null && maxQuantity != null && maxQuantity < minQuantity)
    fail('pricing.maxQuantity', 'mismatch', 'must not be below minQuantity')
  const isSimple = formula === 'fixed-fee' || formula === 'flat-rate'
  if (isSimple && pricing.price == null) fail('pricing.price', 'required', 'is required')
  if (!isSimple && pricing.brackets == null) fail('pricing.brackets', 'required', 'is required')
  if (isSimple && pricing.brackets != null)
    fail('pricing.brackets', 'not-supported', `is not supported for ${pricing.formula}`)
  if (!isSimple && pricing.price != null)
    fail('pricing.price', 'not-supported', `is not supported for ${pricing.formula}`)
  if (pricing.price != null) amount('pricing.price', pricing.price)
  for (const [index, { price }] of (pricing.brackets ?? []).entries()) {
    amount(`pricing.brackets.${index}.price`, price)
  }
  const gap = bracketsProblem(
    (pricing.brackets ?? []).map(({ maxQuantity }) => ({ maxQuantity: maxQuantity ?? null })),
  )
  if (gap !== null) fail(`pricing.brackets.${gap.index}.maxQuantity`, gap.code, gap.message)
  return problems
}

/** Returns the sign of a plan's currency in SQL. */
function signExpression(): string {
  const signs = currencies().map((code) => `when '${code}' then '${currencySign(code)}'`)
  return `(case row.currency ${signs.join(' ')} else row.currency end)`
}
