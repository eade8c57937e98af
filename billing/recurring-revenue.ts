/** The monthly recurring revenue of an order. */
import { isOneTime } from './invoices.ts'
import { lineAmount, Money, sumOf } from './money.ts'
import type { Order } from './order.ts'
import type { OrderTerms } from './order-terms.ts'
import type { PeriodUnit } from './periods.ts'
import { priceOf } from './pricing.ts'

/** Periods of a unit in a year of 365 days. */
const PERIODS_IN_A_YEAR: Readonly<Record<PeriodUnit, Money>> = {
  day: new Money(365),
  week: new Money(365).div(7),
  month: new Money(12),
  year: new Money(1),
}

/**
 * Returns what an order brings in per month: the prices of its recurring items, normalized to a twelfth of a year and
 * rounded once, half-up, to the decimals of its currency. Zero unless the order is active and past its trial; setup,
 * shipping, one-time sales and excluded items do not count.
 */
export function monthlyRecurringRevenue({ terms, status, inTrial }: Order): string {
  if (status !== 'active' || inTrial) return '0'
  const counted = terms.items.filter((item) => item.excludeFromMrr !== true)
  return lineAmount(pricePerYear({ ...terms, items: counted }).div(12), terms.currency)
}

/** Returns what the recurring items cost for a year of 365 days, without rounding; zero where nothing recurs. */
export function pricePerYear({ interval, items, currency }: OrderTerms): Money {
  if (interval === null) return new Money(0)
  const prices = items
    .filter((item) => !isOneTime(item))
    .map(({ plan, quantity }) => priceOf(plan.pricing, quantity, currency))
  return new Money(sumOf(prices)).times(PERIODS_IN_A_YEAR[interval.unit]).div(interval.length)
}
