/** The price of a quantity by a plan's formula. Amounts are decimal strings, rounded once, per line. */
import type { FieldProblem } from './errors.ts'
import { lineAmount, Money } from './money.ts'

/** Units up to `maxQuantity`; null: all further units. Brackets ascend, and the last has no limit. */
export interface Bracket {
  readonly price: string
  readonly maxQuantity: number | null
}

export type Pricing =
  | { readonly formula: 'fixed-fee'; readonly price: string }
  | { readonly formula: 'flat-rate'; readonly price: string }
  | { readonly formula: 'tiered' | 'volume' | 'stairstep'; readonly brackets: readonly Bracket[] }

export type PricingFormula = Pricing['formula']

/** Returns the price of `quantity` units, in the currency's units. */
export function priceOf(pricing: Pricing, quantity: number, currency: string): string {
  return lineAmount(exactPrice(pricing, quantity), currency)
}

/**
 * Returns the first bracket that keeps the brackets from pricing every quantity, with its message; null when they can.
 */
export function bracketsProblem(
  brackets: readonly Pick<Bracket, 'maxQuantity'>[],
): (FieldProblem & { readonly index: number }) | null {
  let below = 0
  for (const [index, { maxQuantity }] of brackets.entries()) {
    const isLast = index === brackets.length - 1
    if (isLast !== (maxQuantity === null)) {
      return {
        index,
        code: isLast ? 'not-allowed' : 'required',
        message: isLast ? 'must be null in the last bracket' : 'must not be null, except in the last bracket',
      }
    }
    if (maxQuantity !== null && maxQuantity <= below) {
      return { index, code: 'out-of-range', message: `must be above ${below}` }
    }
    below = maxQuantity ?? below
  }
  return null
}

function exactPrice(pricing: Pricing, quantity: number): Money {
  switch (pricing.formula) {
    case 'fixed-fee':
      return new Money(pricing.price)
    case 'flat-rate':
      return new Money(pricing.price).times(quantity)
    case 'tiered':
      return tiered(pricing.brackets, quantity)
    case 'volume':
      return new Money(bracketOf(pricing.brackets, quantity).price).times(quantity)
    case 'stairstep':
      return new Money(bracketOf(pricing.brackets, quantity).price)
  }
}

function tiered(brackets: readonly Bracket[], quantity: number): Money {
  let [sum, below] = [new Money(0), 0]
  for (const { price, maxQuantity } of brackets) {
    const through = Math.min(maxQuantity ?? quantity, quantity)
    sum = sum.plus(new Money(price).times(Math.max(0, through - below)))
    below = through
  }
  return sum
}

function bracketOf(brackets: readonly Bracket[], quantity: number): Bracket {
  const found = brackets.find(({ maxQuantity }) => maxQuantity === null || quantity <= maxQuantity)
  if (found === undefined) throw new RangeError('must be null in the last bracket')
  return found
}
