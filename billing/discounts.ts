/** Prices lines after discounts, with taxes. Nothing else computes a total. Amounts are exact, in the currency's units. */
import { isZero, lineAmount, Money, splitAmount, sumOf, sumOfMoney } from './money.ts'
import { addedTax, type LineTax, type TaxTerms, taxed } from './taxes.ts'

export interface PriceableLine {
  readonly type: string
  readonly planId: string | null
  readonly productId?: string | null
  readonly amount: string
  /** Left out where discounts take nothing. */
  readonly discount?: string
  /** Left out where there are none. */
  readonly taxes?: readonly LineTax[]
}

export interface Discount {
  readonly couponId: string
  readonly redemptionId: string
  readonly description: string
  readonly value:
    | { readonly type: 'percent'; readonly percent: string }
    | { readonly type: 'fixed'; readonly amount: string }
  /** The plans and products whose lines are reduced; null: all. Shipping is never reduced. */
  readonly planIds: readonly string[] | null
  readonly productIds: readonly string[] | null
}

export interface InvoiceDiscount {
  readonly couponId: string
  readonly redemptionId: string
  readonly description: string
  readonly amount: string
}

export interface Priced<Line extends PriceableLine> {
  readonly lines: readonly Line[]
  /** Those that take something off, in the order in which they were applied. */
  readonly discounts: readonly InvoiceDiscount[]
  /** The sum of the lines less the discounts, with the taxes that are added; never below zero. */
  readonly amount: string
}

/**
 * Returns the lines with their discounts, and the total (decisions 6.1). Percentages come before fixed amounts,
 * each in the order given, and each takes its part of what remains. A discount is rounded half-up once, and split
 * by the remaining amounts of its lines; the parts sum to the whole. Pricing priced lines again changes nothing.
 */
export function priced<Line extends PriceableLine>(
  lines: readonly Line[],
  discounts: readonly Discount[],
  currency: string,
  taxes: TaxTerms | null = null,
): Priced<Line> {
  const left = lines.map(({ amount }) => new Money(amount))
  const recorded = inOrder(discounts).flatMap((discount) => {
    const { couponId, redemptionId, description } = discount
    const reducible = lines.map((line, index) => (covers(discount, line) ? left[index] : undefined) ?? ZERO)
    const whole = wholeOf(discount, reducible, currency)
    if (whole.isZero()) return []
    for (const [index, part] of splitAmount(whole, reducible, currency).entries()) {
      left[index] = (left[index] ?? ZERO).minus(part)
    }
    return [{ couponId, redemptionId, description, amount: whole.toFixed() }]
  })
  const nets = left.map((amount) => amount.toFixed())
  const reduced = lines.map((line, index) => withDiscount(line, left[index] ?? ZERO))
  const whole = taxed(reduced, nets, taxes, currency)
  return { lines: whole, discounts: recorded, amount: sumOf([...nets, addedTax(whole)]) }
}

export function netAmount({ amount, discount }: Pick<PriceableLine, 'amount' | 'discount'>): string {
  return new Money(amount).minus(discount ?? 0).toFixed()
}

/** Returns the sum of all lines but shipping, and prorations, which are discounted already. */
export function discountable(lines: readonly Pick<PriceableLine, 'type' | 'amount'>[]): string {
  return sumOf(lines.filter(isDiscountable).map(({ amount }) => amount))
}

function isDiscountable({ type }: Pick<PriceableLine, 'type'>): boolean {
  return type !== 'shipping' && type !== 'proration'
}

const ZERO = new Money(0)

function inOrder(discounts: readonly Discount[]): readonly Discount[] {
  const ofType = (type: Discount['value']['type']) => discounts.filter(({ value }) => value.type === type)
  return [...ofType('percent'), ...ofType('fixed')]
}

function covers({ planIds, productIds }: Discount, line: PriceableLine): boolean {
  if (!isDiscountable(line)) return false
  if (planIds !== null && !planIds.includes(line.planId ?? '')) return false
  return productIds === null || productIds.includes(line.productId ?? '')
}

function wholeOf({ value }: Discount, reducible: readonly Money[], currency: string): Money {
  const sum = sumOfMoney(reducible)
  if (value.type === 'fixed') return Money.min(value.amount, sum)
  return Money.min(lineAmount(sum.times(value.percent).div(100), currency), sum)
}

function withDiscount<Line extends PriceableLine>(line: Line, left: Money): Line {
  const { discount: _, ...plain } = line
  const taken = new Money(line.amount).minus(left).toFixed()
  return (isZero(taken) ? plain : { ...plain, discount: taken }) as Line
}
