import { InvalidFieldsError } from '../../billing/errors.ts'
import type { InvoiceLine } from '../../billing/invoices.ts'
import type { OrderTerms } from '../../billing/order-terms.ts'
import { checkedOrder, taxedAmountProblem } from '../../billing/order-validation.ts'
import type { OrderItem, OrderType } from '../../db/entities/subscription.ts'
import type { References } from '../references.ts'
import { orderChoices, termsItem } from './rows-to-order.ts'

type GivenTerms = Parameters<typeof orderChoices>[0] & {
  readonly orderType: OrderType
  readonly items: readonly unknown[]
  readonly shipping: { readonly amount: string } | null
}

/**
 * Records every rule that items and choices break; a trial has to end after `trialAfter`. Returns the lines
 * of the initial invoice and of a renewal; null if the items are invalid.
 */
export function recordOrderProblems(
  found: References,
  items: readonly OrderItem[],
  given: GivenTerms,
  { start, trialAfter, now }: { readonly start: Date; readonly trialAfter: Date; readonly now: number },
): readonly (readonly InvoiceLine[])[] | null {
  if (items.length < given.items.length) return null // a plan is missing: what follows from it is unknown
  const { problems, invoices } = checkedOrder(
    {
      items: items.map(termsItem),
      choices: orderChoices(given),
      isOneTime: given.orderType === 'one-time-order',
      shipping: given.shipping?.amount ?? null,
    },
    { start: start.getTime(), trialAfter: trialAfter.getTime(), now },
  )
  for (const { field, code, message } of problems) found.fail(field, code, message)
  return invoices
}

/** Throws InvalidFieldsError. */
export function requireTaxedAmounts(terms: OrderTerms): void {
  const problem = taxedAmountProblem(terms)
  if (problem !== null) throw new InvalidFieldsError([problem])
}
