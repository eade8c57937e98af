/**
 * An amount is an exact decimal string in the currency's units, such as `12.5`; computations use `Money`.
 * Only `amountOf` reads JSON numbers and only `jsonAmount` writes them.
 */
import currencyCodes from 'currency-codes'
import { Decimal } from 'decimal.js'
import type { FieldProblem } from './errors.ts'

/** Precise enough for every product of price and quantity; rounds half away from zero. */
export const Money = Decimal.clone({ precision: 60, rounding: Decimal.ROUND_HALF_UP })
export type Money = Decimal

/** Every amount is strictly below this. */
export const AMOUNT_LIMIT = 1e12

export function amountOf(value: number): string {
  return new Money(value).toFixed()
}

export function jsonAmount(amount: string): number {
  return new Money(amount).toNumber()
}

/** Removes the zeros that pad an amount to its column's scale. */
export function plainAmount(amount: string): string {
  return new Money(amount).toFixed()
}

/** Returns the number of decimals (ISO 4217); null for an unknown code. */
export function currencyExponent(currency: string): number | null {
  return currencyCodes.code(currency)?.digits ?? null
}

/** The currencies whose number of decimals is not two, by that number. */
export const UNUSUAL_EXPONENTS: ReadonlyMap<string, number> = new Map(
  currencyCodes.codes().flatMap((code) => {
    const exponent = currencyExponent(code)
    return exponent === null || exponent === 2 ? [] : [[code, exponent] as const]
  }),
)

/** Returns the sign, such as `€`, or the code of a currency without one. */
export function currencySign(currency: string): string {
  const parts = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
  }).formatToParts(0)
  return parts.find(({ type }) => type === 'currency')?.value ?? currency
}

export function currencies(): readonly string[] {
  return currencyCodes.codes()
}

export function amountProblem(amount: string, currency: string): FieldProblem | null {
  const exponent = currencyExponent(currency)
  if (exponent === null) return null
  const exact = new Money(amount)
  if (exact.abs().greaterThanOrEqualTo(AMOUNT_LIMIT)) {
    return { code: 'out-of-range', message: 'must be below 10^12' }
  }
  return exact.decimalPlaces() > exponent
    ? { code: 'too-precise', message: `must not have more than ${exponent} decimals in ${currency}` }
    : null
}

/** Rounds half-up to the currency's decimals. Nothing else rounds. */
export function lineAmount(exact: Money, currency: string): string {
  return exact.toDecimalPlaces(currencyExponent(currency) ?? 6).toFixed()
}

export function sumOf(amounts: readonly string[]): string {
  return amounts.reduce((sum, amount) => sum.plus(amount), new Money(0)).toFixed()
}

/**
 * Splits an amount by weights of any signs: the parts sum to the whole, each less than a unit from its share, and
 * units left over go to the largest fractions.
 */
export function splitAmount(whole: Money, weights: readonly Money[], currency: string): Money[] {
  if (whole.lessThan(0)) return splitAmount(whole.neg(), weights, currency).map((part) => part.neg())
  const unit = new Money(10).pow(-(currencyExponent(currency) ?? 6))
  const sum = sumOfMoney(weights)
  if (sum.isZero()) return weights.map(() => new Money(0))
  const units = whole.div(unit)
  const shares = weights.map((weight, index) => {
    const exact = units.times(weight)
    const cut = exact.divToInt(sum)
    const isAbove = exact.minus(cut.times(sum)).times(sum).lessThan(0)
    const part = isAbove ? cut.minus(1) : cut
    return { index, part, rest: exact.minus(part.times(sum)).abs() }
  })
  const remaining = units.minus(sumOfMoney(shares.map(({ part }) => part))).toNumber()
  const byRest = shares.toSorted((one, other) => other.rest.comparedTo(one.rest) || one.index - other.index)
  const larger = new Set(byRest.slice(0, remaining).map(({ index }) => index))
  return shares.map(({ index, part }) => part.plus(larger.has(index) ? 1 : 0).times(unit))
}

export function sumOfMoney(amounts: readonly Money[]): Money {
  return amounts.reduce((sum, amount) => sum.plus(amount), new Money(0))
}

/** Returns how many units at a price an amount pays for. */
export function unitsFor(amount: Money, unitPrice: string): number {
  return amount.div(unitPrice).round().toNumber()
}

export function isZero(amount: string): boolean {
  return new Money(amount).isZero()
}

/** Where card networks count other decimals than ISO 4217 has. */
const COUNTED_DECIMALS: Readonly<Record<string, number>> = {
  // Their minor unit is out of use, but still counted.
  ISK: 2,
  UGX: 2,
  // A fifth of the unit, which is not counted.
  MGA: 0,
}

/** Returns null for a fraction of a minor unit, and for a last digit where networks round three decimals to two. */
export function minorUnits(amount: string, currency: string): number | null {
  const decimals = decimalsOf(currency)
  if (decimals === null) return null
  const exact = new Money(amount).times(new Money(10).pow(decimals))
  const isCountable = exact.isInteger() && (decimals < 3 || exact.modulo(10).isZero())
  return isCountable && exact.lessThanOrEqualTo(Number.MAX_SAFE_INTEGER) ? exact.toNumber() : null
}

/** The reverse of `minorUnits`; null for an unknown currency. */
export function ofMinorUnits(amount: number, currency: string): string | null {
  const decimals = decimalsOf(currency)
  return decimals === null ? null : new Money(amount).dividedBy(new Money(10).pow(decimals)).toFixed()
}

function decimalsOf(currency: string): number | null {
  return COUNTED_DECIMALS[currency] ?? currencyExponent(currency)
}
