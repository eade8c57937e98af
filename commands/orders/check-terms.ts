import { InvalidFieldsError } from '../../billing/errors.ts'
import { type InvoiceLine, initialLines, pricedAt, renewalLines } from '../../billing/invoices.ts'
import { amountProblem, currencyExponent, sumOf } from '../../billing/money.ts'
import { agreedTerms, NO_REMINDERS, type OrderTerms, termsProblems } from '../../billing/order-terms.ts'
import { quantityProblem } from '../../billing/pricing.ts'
import type { OrderItem, OrderType } from '../../db/entities/subscription.ts'
import type { References } from '../references.ts'
import { orderChoices, termsItem } from './rows-to-order.ts'

export type GivenTerms = Parameters<typeof orderChoices>[0] & {
  readonly orderType: OrderType
  readonly items: readonly unknown[]
  readonly shipping: { readonly amount: string } | null
}

/**
 * Records every rule that items and choices break; a trial has to end after `trialAfter`. Returns the lines
 * of the initial invoice and of a renewal; null if the items are invalid.
 */
export function checkTerms(
  found: References,
  items: readonly OrderItem[],
  given: GivenTerms,
  { start, trialAfter, now }: { readonly start: Date; readonly trialAfter: Date; readonly now: number },
): readonly (readonly InvoiceLine[])[] | null {
  if (items.length < given.items.length) return null // a plan is missing: what follows from it is unknown
  const plans = items.map(({ priced: plan }) => plan)
  const choices = orderChoices(given)
  const times = { start: start.getTime(), trialAfter: trialAfter.getTime(), now }
  for (const { field, code, message } of termsProblems(plans, choices, times)) {
    found.fail(field, code, message)
  }
  for (const [index, { priced: plan, quantity }] of items.entries()) {
    const problem = quantityProblem(plan.pricing, quantity)
    if (problem !== null) found.fail(`items.${index}.quantity`, 'out-of-range', problem)
  }
  const agreed = agreedTerms(plans, choices)
  if (given.orderType === 'one-time-order' && (agreed.interval !== null || agreed.trial !== null)) {
    const message = 'must be subscription-order, because a plan of the order recurs or has a trial'
    found.fail('orderType', 'mismatch', message)
  }
  const currency = plans[0]?.currency ?? ''
  const problem = given.shipping === null ? null : amountProblem(given.shipping.amount, currency)
  if (problem !== null) found.fail('shipping.amount', problem.code, problem.message)
  if (currencyExponent(currency) === null || problem !== null) return null
  const terms = newOrderTerms(items, agreed, { now, shipping: given.shipping, coupons: [] })
  const invoices = [initialLines(terms), renewalLines(terms)]
  for (const lines of invoices) {
    const sum = amountProblem(sumOf(lines.map(({ amount }) => amount)), currency)
    if (sum !== null) {
      found.fail('items', sum.code, `lead to an invalid invoice amount, which ${sum.message}`)
      return null
    }
  }
  return invoices
}

/** The terms of an order that begins at `now` and is not charged automatically. */
export function newOrderTerms(
  items: readonly OrderItem[],
  agreed: ReturnType<typeof agreedTerms>,
  {
    now,
    shipping,
    coupons,
    taxes = null,
  }: {
    readonly now: number
    readonly shipping: GivenTerms['shipping']
    readonly coupons: OrderTerms['coupons']
    readonly taxes?: OrderTerms['taxes']
  },
): OrderTerms {
  return {
    currency: items[0]?.priced.currency ?? '',
    createdTime: now,
    startTime: now,
    abandonTime: null,
    items: items.map(termsItem),
    ...agreed,
    delinquencyPeriod: null,
    shipping: shipping?.amount ?? null,
    coupons,
    canCharge: false,
    instrumentId: null,
    autopayRetries: [],
    paydays: [],
    declinedRenewalsLimit: null,
    reminders: NO_REMINDERS,
    taxes,
  }
}

/** Taxes may lead beyond the largest amount too. Throws InvalidFieldsError. */
export function checkTaxedAmounts(terms: OrderTerms): void {
  const taxes = terms.taxes ?? []
  for (const { from } of taxes) {
    for (const lines of [initialLines(terms), renewalLines(terms)]) {
      const { amount } = pricedAt({ terms: { ...terms, coupons: [] }, invoices: [] }, lines, from, 1)
      const problem = amountProblem(amount, terms.currency)
      if (problem === null) continue
      const message = `lead to an invalid invoice amount with taxes, which ${problem.message}`
      throw new InvalidFieldsError([{ field: 'items', code: problem.code, message }])
    }
  }
}
