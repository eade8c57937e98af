/** What an order is refused for: items, plans, choices and sums that do not fit each other (specification 2.6). */
import { canonicalJson } from './canonical-json.ts'
import type { InvalidField } from './errors.ts'
import { type InvoiceLine, initialLines, pricedAt, renewalLines } from './invoices.ts'
import { amountProblem, currencyExponent, sumOf } from './money.ts'
import {
  agreedTerms,
  newOrderTerms,
  type OrderChoices,
  type OrderTerms,
  type PlanTrial,
  type PricedItem,
  type PricedPlan,
  type RecurringInterval,
} from './order-terms.ts'
import { earliestStart, type Period } from './periods.ts'
import { quantityProblem } from './pricing.ts'

export interface RequestedOrder {
  readonly items: readonly PricedItem[]
  readonly choices: OrderChoices
  readonly isOneTime: boolean
  readonly shipping: string | null
}

export interface OrderTimes {
  readonly start: number
  /** A trial has to end later. */
  readonly trialAfter: number
  readonly now: number
}

export interface CheckedOrder {
  readonly problems: readonly InvalidField[]
  /** The lines of the initial invoice and of a renewal; null if there are no valid ones. */
  readonly invoices: readonly (readonly InvoiceLine[])[] | null
}

export function checkedOrder(order: RequestedOrder, times: OrderTimes): CheckedOrder {
  const { items, choices, isOneTime, shipping } = order
  const plans = items.map(({ plan }) => plan)
  const problems = [...termsProblems(plans, choices, times), ...quantityProblems(items)]
  const agreed = agreedTerms(plans, choices)
  if (isOneTime && (agreed.interval !== null || agreed.trial !== null)) {
    problems.push({
      field: 'orderType',
      code: 'mismatch',
      message: 'must be subscription-order, because a plan of the order recurs or has a trial',
    })
  }
  const currency = plans[0]?.currency ?? ''
  const problem = shipping === null ? null : amountProblem(shipping, currency)
  if (problem !== null) problems.push({ field: 'shipping.amount', ...problem })
  if (currencyExponent(currency) === null || problem !== null) return { problems, invoices: null }
  const terms = newOrderTerms(items, agreed, { now: times.now, shipping, coupons: [] })
  const invoices = [initialLines(terms), renewalLines(terms)]
  for (const lines of invoices) {
    const sum = amountProblem(sumOf(lines.map(({ amount }) => amount)), currency)
    if (sum === null) continue
    const message = `lead to an invalid invoice amount, which ${sum.message}`
    return { problems: [...problems, { field: 'items', code: sum.code, message }], invoices: null }
  }
  return { problems, invoices }
}

/** Taxes may lead beyond the largest amount too. */
export function taxedAmountProblem(terms: OrderTerms): InvalidField | null {
  for (const { from } of terms.taxes ?? []) {
    for (const lines of [initialLines(terms), renewalLines(terms)]) {
      const { amount } = pricedAt({ terms: { ...terms, coupons: [] }, invoices: [] }, lines, from, 1)
      const problem = amountProblem(amount, terms.currency)
      if (problem === null) continue
      const message = `lead to an invalid invoice amount with taxes, which ${problem.message}`
      return { field: 'items', code: problem.code, message }
    }
  }
  return null
}

/** A plan that the item refers to is named by its id. */
export function planField(
  { isInline }: Pick<PricedPlan, 'isInline'>,
  index: number,
  member: 'currency' | 'recurringInterval' | 'trial',
): string {
  return `items.${index}.plan.${isInline === true ? member : 'id'}`
}

function termsProblems(
  plans: readonly PricedPlan[],
  choices: OrderChoices,
  { start, trialAfter, now }: OrderTimes,
): InvalidField[] {
  const problems: InvalidField[] = []
  const [first] = plans
  const isLimitOwn = choices.recurringInterval?.limit !== undefined
  const lasting = plans.filter((plan) => plan.recurringInterval !== null)
  const ongoing = plans.filter((plan) => plan.recurringInterval !== null || plan.trial !== null)
  for (const [index, plan] of plans.entries()) {
    const mismatch = (member: 'currency' | 'recurringInterval' | 'trial', message: string) =>
      void problems.push({ field: planField(plan, index, member), code: 'mismatch', message })
    if (first !== undefined && plan.currency !== first.currency) {
      mismatch('currency', `must have the currency of the first plan: ${first.currency}`)
    }
    const period = lasting[0]?.recurringInterval
    if (plan.recurringInterval !== null && period != null) {
      if (!sameSchedule(plan.recurringInterval, period))
        mismatch('recurringInterval', 'must have the same service period as the other plans of the order')
      else if (!isLimitOwn && plan.recurringInterval.limit !== period.limit) {
        mismatch(
          'recurringInterval',
          'must have the same limit as the other plans, unless the order sets recurringInterval.limit',
        )
      }
    }
    if (
      choices.trial === null &&
      ongoing.includes(plan) &&
      !sameTrial(plan.trial, ongoing[0]?.trial ?? null)
    ) {
      mismatch('trial', 'must have the same trial as the other plans, unless the order sets trial')
    }
  }
  if (choices.trial?.enabled === true) {
    if (choices.trial.endTime === null) {
      problems.push({
        field: 'trial.endTime',
        code: 'required',
        message: 'is required when the trial is enabled',
      })
    } else if (choices.trial.endTime <= trialAfter) {
      problems.push({ field: 'trial.endTime', code: 'out-of-range', message: 'must be after the start time' })
    }
    if (plans.length > 0 && ongoing.length === 0) {
      problems.push({ field: 'trial', code: 'mismatch', message: 'must not be enabled for one-time sales' })
    }
  }
  if (plans.length === 0) return problems
  const { trial, interval } = agreedTerms(plans, choices)
  if (choices.isTrialOnly && trial === null) {
    problems.push({
      field: 'isTrialOnly',
      code: 'mismatch',
      message: 'requires a trial of the plans or of the order',
    })
  }
  if (choices.recurringInterval !== null && lasting.length === 0) {
    problems.push({
      field: 'recurringInterval',
      code: 'mismatch',
      message: 'must be omitted, because no plan of the order recurs',
    })
  }
  if (interval !== null && start < earliestStart(now, interval)) {
    problems.push({
      field: 'startTime',
      code: 'out-of-range',
      message: 'must not be more than one service period in the past',
    })
  }
  return problems
}

function quantityProblems(items: readonly PricedItem[]): InvalidField[] {
  return items.flatMap(({ plan, quantity }, index) => {
    const message = quantityProblem(plan.pricing, quantity)
    return message === null ? [] : [{ field: `items.${index}.quantity`, code: 'out-of-range', message }]
  })
}

function sameSchedule(
  { limit: _, ...a }: RecurringInterval,
  { limit: __, ...b }: RecurringInterval,
): boolean {
  return canonicalJson(a) === canonicalJson(b)
}

function samePeriod(a: Period, b: Period): boolean {
  return a.unit === b.unit && a.length === b.length
}

function sameTrial(a: PlanTrial | null, b: PlanTrial | null): boolean {
  return a === null || b === null ? a === b : samePeriod(a.period, b.period)
}
