/** Prices lines after discounts. Nothing else computes a total. Amounts are exact, in the currency's units. */
import { currencyExponent, isZero, lineAmount, Money, sumOf } from './money.ts'

export interface PriceableLine {
  readonly type: string
  readonly planId: string | null
  readonly productId?: string | null
  readonly amount: string
  /** Left out where discounts take nothing. */
  readonly discount?: string
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
  /** How many of the ordered units of plans are reduced, at their average price; left out: all. */
  readonly units?: readonly { readonly planId: string; readonly quantity: number; readonly of: number }[]
  /** When the invoice has to be paid for it, in milliseconds; left out: at any time. */
  readonly paidBy?: number
}

export interface InvoiceDiscount {
  readonly couponId: string
  readonly redemptionId: string
  readonly description: string
  readonly amount: string
  /** The discount is taken back if the invoice is not paid by then. */
  readonly paidBy?: number
  /** What it takes off each line, where it may be taken back. */
  readonly parts?: readonly string[]
}

export interface Priced<Line extends PriceableLine> {
  readonly lines: readonly Line[]
  /** Those that take something off, in the order in which they were applied. */
  readonly discounts: readonly InvoiceDiscount[]
  /** The sum of the lines less the discounts; never below zero. */
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
): Priced<Line> {
  const left = lines.map(({ amount }) => new Money(amount))
  const recorded = inOrder(discounts).flatMap((discount) => {
    const { couponId, redemptionId, description, paidBy } = discount
    const reducible = reducibleOf(discount, lines, left, currency)
    const whole = wholeOf(discount, reducible, currency)
    if (whole.isZero()) return []
    const parts = partsOf(whole, reducible, currency)
    for (const [index, part] of parts.entries()) {
      left[index] = (left[index] ?? ZERO).minus(part)
    }
    const ending = paidBy === undefined ? {} : { paidBy, parts: parts.map((part) => part.toFixed()) }
    return [{ couponId, redemptionId, description, amount: whole.toFixed(), ...ending }]
  })
  return {
    lines: lines.map((line, index) => withDiscount(line, left[index] ?? ZERO)),
    discounts: recorded,
    amount: sumOf(left.map((amount) => amount.toFixed())),
  }
}

/** Returns what an invoice comes to without the discounts that it had to be paid for by an instant. */
export function withoutUnpaid<Line extends PriceableLine>(
  { lines, discounts, amount }: Priced<Line>,
  at: number,
): Priced<Line> {
  const isOver = ({ paidBy }: InvoiceDiscount) => paidBy !== undefined && paidBy <= at
  const ended = discounts.filter(isOver)
  const sum = (index: number) => sumOf(ended.map(({ parts = [] }) => parts[index] ?? '0'))
  return {
    lines: lines.map((line, index) => withDiscount(line, new Money(netAmount(line)).plus(sum(index)))),
    discounts: discounts.filter((one) => !isOver(one)),
    amount: sumOf([amount, ...ended.map((one) => one.amount)]),
  }
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

/** Returns how much of each line a discount can take. */
function reducibleOf(
  discount: Discount,
  lines: readonly PriceableLine[],
  left: readonly Money[],
  currency: string,
): Money[] {
  return lines.map((line, index) => {
    const rest = covers(discount, line) ? (left[index] ?? ZERO) : ZERO
    if (discount.units === undefined) return rest
    const units = discount.units.find(({ planId }) => planId === line.planId)
    if (units === undefined || !ITEM_TYPES.has(line.type)) return ZERO
    return Money.min(rest, lineAmount(new Money(line.amount).times(units.quantity).div(units.of), currency))
  })
}

/** Lines of units of a plan; a setup is none. */
const ITEM_TYPES: ReadonlySet<string> = new Set(['plan', 'trial', 'one-time'])

function wholeOf({ value }: Discount, reducible: readonly Money[], currency: string): Money {
  const sum = sumOfMoney(reducible)
  if (value.type === 'fixed') return Money.min(value.amount, sum)
  return Money.min(lineAmount(sum.times(value.percent).div(100), currency), sum)
}

/** Splits an amount by weights that sum to at least as much; units left over go to the largest fractions. */
function partsOf(whole: Money, weights: readonly Money[], currency: string): Money[] {
  const unit = new Money(10).pow(-(currencyExponent(currency) ?? 6))
  const sum = sumOfMoney(weights)
  const shares = weights.map((weight) => whole.times(weight).div(sum).div(unit))
  const parts = shares.map((share) => share.floor())
  let remaining = whole.div(unit).minus(sumOfMoney(parts))
  const byFraction = shares
    .map((share, index) => ({ index, fraction: share.minus(share.floor()) }))
    .sort((one, other) => other.fraction.comparedTo(one.fraction) || one.index - other.index)
  for (const { index } of byFraction) {
    if (remaining.isZero()) break
    parts[index] = (parts[index] ?? ZERO).plus(1)
    remaining = remaining.minus(1)
  }
  return parts.map((part) => part.times(unit))
}

function withDiscount<Line extends PriceableLine>(line: Line, left: Money): Line {
  const { discount: _, ...plain } = line
  const taken = new Money(line.amount).minus(left).toFixed()
  return (isZero(taken) ? plain : { ...plain, discount: taken }) as Line
}

function sumOfMoney(amounts: readonly Money[]): Money {
  return amounts.reduce((sum, amount) => sum.plus(amount), ZERO)
}
