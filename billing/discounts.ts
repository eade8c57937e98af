/** Prices lines after discounts, with taxes. Nothing else computes a total. Amounts are exact, in the currency's units. */
import { isZero, lineAmount, Money, splitAmount, sumOf, sumOfMoney } from './money.ts'
import { addedTax, keptTaxes, type LineTax, type TaxTerms, taxed } from './taxes.ts'

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
  const { left, taken } = applied(lines, inOrder(discounts), currency)
  const recorded = taken.map(({ discount, whole, parts }) => {
    const { couponId, redemptionId, description, paidBy } = discount
    const ending = paidBy === undefined ? {} : { paidBy, parts: parts.map((part) => part.toFixed()) }
    return { couponId, redemptionId, description, amount: whole.toFixed(), ...ending }
  })
  const nets = left.map((amount) => amount.toFixed())
  const reduced = lines.map((line, index) => withDiscount(line, left[index] ?? ZERO))
  const whole = taxed(reduced, nets, taxes, currency)
  return { lines: whole, discounts: recorded, amount: sumOf([...nets, addedTax(whole)]) }
}

/**
 * Returns what each redemption takes off each line of an invoice, by its id. `known` says which lines a discount covers; one
 * that is not known is taken to cover all.
 */
export function discountParts(
  { lines, discounts }: Pick<Priced<PriceableLine>, 'lines' | 'discounts'>,
  known: readonly Discount[],
  currency: string,
): ReadonlyMap<string, readonly Money[]> {
  const made = discounts.map((one): Discount => {
    const {
      planIds = null,
      productIds = null,
      units,
    } = known.find(({ redemptionId }) => redemptionId === one.redemptionId) ?? {}
    const { couponId, redemptionId, description, amount } = one
    const value = { type: 'fixed', amount } as const
    const covered = { planIds, productIds, ...(units === undefined ? {} : { units }) }
    return { couponId, redemptionId, description, value, ...covered }
  })
  const { taken } = applied(lines, made, currency)
  return new Map(taken.map(({ discount, parts }) => [discount.redemptionId, parts]))
}

interface Taken {
  readonly discount: Discount
  readonly whole: Money
  /** By line. */
  readonly parts: readonly Money[]
}

/** Returns what discounts, applied in the order given, take off lines, and what they leave of these. */
function applied(
  lines: readonly PriceableLine[],
  discounts: readonly Discount[],
  currency: string,
): { readonly left: readonly Money[]; readonly taken: readonly Taken[] } {
  const left = lines.map(({ amount }) => new Money(amount))
  const taken = discounts.flatMap((discount): Taken[] => {
    const reducible = reducibleOf(discount, lines, left, currency)
    const whole = wholeOf(discount, reducible, currency)
    if (whole.isZero()) return []
    const parts = splitAmount(whole, reducible, currency)
    for (const [index, part] of parts.entries()) {
      left[index] = (left[index] ?? ZERO).minus(part)
    }
    return [{ discount, whole, parts }]
  })
  return { left, taken }
}

/** Returns what an invoice comes to, at the rates of its lines, without the discounts that it had to be paid for by an instant. */
export function withoutUnpaid<Line extends PriceableLine>(
  { lines, discounts }: Priced<Line>,
  at: number,
  currency: string,
): Priced<Line> {
  const isOver = ({ paidBy }: InvoiceDiscount) => paidBy !== undefined && paidBy <= at
  const ended = discounts.filter(isOver)
  const nets = lines.map((line, index) =>
    sumOf([netAmount(line), ...ended.map(({ parts = [] }) => parts[index] ?? '0')]),
  )
  const restored = lines.map((line, index) => withDiscount(line, new Money(nets[index] ?? 0)))
  const whole = taxed(restored, nets, keptTaxes(lines, null), currency)
  return {
    lines: whole,
    discounts: discounts.filter((one) => !isOver(one)),
    amount: sumOf([...nets, addedTax(whole)]),
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

function withDiscount<Line extends PriceableLine>(line: Line, left: Money): Line {
  const { discount: _, ...plain } = line
  const taken = new Money(line.amount).minus(left).toFixed()
  return (isZero(taken) ? plain : { ...plain, discount: taken }) as Line
}
