import type { Static } from 'typebox'
import type { FieldCode, InvalidField } from '../../billing/errors.ts'
import { amountOf, amountProblem } from '../../billing/money.ts'
import type { PricedPlan } from '../../billing/order-terms.ts'
import type { Period } from '../../billing/periods.ts'
import { bracketsProblem, type Pricing } from '../../billing/pricing.ts'
import type { Plan } from '../schemas/plan.ts'
import { intervalOf, intervalProblems, timeShiftOf } from './billing-terms.ts'

type GivenPlan = Pick<
  Static<typeof Plan>,
  'currency' | 'pricing' | 'recurringInterval' | 'trial' | 'isTrialOnly' | 'setup' | 'invoiceTimeShift'
>
type GivenPricing = NonNullable<GivenPlan['pricing']>

export type PlanTerms = Pick<
  PricedPlan,
  'pricing' | 'recurringInterval' | 'trial' | 'isTrialOnly' | 'setup' | 'invoiceTimeShift'
>

export function planTerms(body: GivenPlan): PlanTerms {
  return {
    pricing: pricingOf(pricingOrFree(body) ?? FREE),
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
  }
}

/** The price of a plan that ends with its trial. */
const FREE: GivenPricing = { formula: 'fixed-fee', price: 0 }

function pricingOrFree(body: GivenPlan): GivenPricing | null {
  return body.pricing ?? (isTrialAlone(body) ? FREE : null)
}

function isTrialAlone({ trial, isTrialOnly, recurringInterval }: GivenPlan): boolean {
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

export function planProblems(body: GivenPlan): InvalidField[] {
  const { currency, trial, setup, isTrialOnly } = body
  const pricing = pricingOrFree(body)
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
  problems.push(...intervalProblems(body.recurringInterval))
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
