/** The price of a quantity by a plan's formula. Amounts are rounded once, per line. */
import type { FieldProblem } from './errors.ts'
import { lineAmount, Money } from './money.ts'

/** null: all further units. Brackets ascend, and only the last has no limit. */
export interface Bracket {
  readonly price: string
  readonly maxQuantity: number | null
}

export type Pricing =
  | { readonly formula: 'fixed-fee'; readonly price: string }
  | {
      readonly formula: 'flat-rate'
      readonly price: string
      /** null: any quantity can be ordered. */
      readonly minQuantity?: number | null
      readonly maxQuantity?: number | null
    }
  | {
      readonly formula: 'tiered' | 'volume' | 'stairstep'
      readonly brackets: readonly Bracket[]
      readonly minQuantity?: number | null
    }

/** `quantity` units at one price, or one price for all units of the part. */
export interface PricePart {
  readonly unitPrice: string
  readonly quantity: number
  readonly units: readonly [from: number, through: number]
}

export function priceOf(pricing: Pricing, quantity: number, currency: string): string {
  const exact = priceParts(pricing, quantity).reduce(
    (sum, part) => sum.plus(new Money(part.unitPrice).times(part.quantity)),
    new Money(0),
  )
  return lineAmount(exact, currency)
}

/** One part, or with `tiered` one for each bracket that is reached. */
export function priceParts(pricing: Pricing, quantity: number): readonly PricePart[] {
  const units = [1, quantity] as const
  switch (pricing.formula) {
    case 'fixed-fee':
      return [{ unitPrice: pricing.price, quantity: 1, units }]
    case 'flat-rate':
      return [{ unitPrice: pricing.price, quantity, units }]
    case 'tiered':
      return tiers(pricing.brackets, quantity)
    case 'volume':
      return [{ unitPrice: bracketOf(pricing.brackets, quantity).price, quantity, units }]
    case 'stairstep':
      return [{ unitPrice: bracketOf(pricing.brackets, quantity).price, quantity: 1, units }]
  }
}

export function quantityProblem(pricing: Pricing, quantity: number): string | null {
  const minimum = 'minQuantity' in pricing ? (pricing.minQuantity ?? null) : null
  const maximum = 'maxQuantity' in pricing ? (pricing.maxQuantity ?? null) : null
  if (minimum !== null && quantity < minimum) return `must be at least ${minimum}, the plan's minimum`
  if (maximum !== null && quantity > maximum) return `must be at most ${maximum}, the plan's maximum`
  return null
}

/** Returns the first bracket that keeps the brackets from pricing every quantity. */
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

function tiers(brackets: readonly Bracket[], quantity: number): PricePart[] {
  let below = 0
  return brackets.flatMap(({ price, maxQuantity }) => {
    const [from, through] = [below + 1, Math.min(maxQuantity ?? quantity, quantity)]
    below = Math.max(below, through)
    return through < from
      ? []
      : [{ unitPrice: price, quantity: through - from + 1, units: [from, through] as const }]
  })
}

function bracketOf(brackets: readonly Bracket[], quantity: number): Bracket {
  const found = brackets.find(({ maxQuantity }) => maxQuantity === null || quantity <= maxQuantity)
  if (found === undefined) throw new RangeError('must be null in the last bracket')
  return found
}
