import { lineAmount, Money, sumOf } from './money.ts'
import type { Order } from './order.ts'
import { type OrderTerms, planBilling } from './order-terms.ts'
import type { PeriodUnit } from './periods.ts'
import { priceOf } from './pricing.ts'

/** A year has 365 days. */
const PERIODS_IN_A_YEAR: Readonly<Record<PeriodUnit, Money>> = {
  day: new Money(365),
  week: new Money(365).div(7),
  month: new Money(12),
  year: new Money(1),
}

/**
 * Returns the price of a twelfth of a year, rounded once; zero unless the order is active and past its trial.
 * Setup, shipping, one-time sales, items for a trial alone and excluded ones do not count.
 */
export function monthlyRecurringRevenue({ terms, status, inTrial }: Order): string {
  if (status !== 'active' || inTrial) return '0'
  const counted = terms.items.filter((item) => item.excludeFromMrr !== true)
  return lineAmount(pricePerYear({ ...terms, items: counted }).div(12), terms.currency)
}

/** Returns the unrounded price of the recurring items for 365 days; zero where nothing recurs. */
export function pricePerYear(terms: OrderTerms): Money {
  const { interval, items, currency } = terms
  if (interval === null) return new Money(0)
  const prices = items
    .filter(({ plan }) => planBilling(plan, terms) === 'recurring')
    .map(({ plan, quantity }) => priceOf(plan.pricing, quantity, currency))
  return new Money(sumOf(prices)).times(PERIODS_IN_A_YEAR[interval.unit]).div(interval.length)
}
