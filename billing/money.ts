/**
 * Amounts. Everywhere in the code an amount is an exact decimal string in the currency's units, such as `12.5`;
 * computations use `Money` and return strings. Only `amountOf` reads JSON numbers and only `jsonAmount` writes them.
 */
import currencyCodes from 'currency-codes'
import { Decimal } from 'decimal.js'
import type { FieldProblem } from './errors.ts'

/**
 * The type for computing with amounts: precise enough for every product of price and quantity; rounds half
 * away from zero.
 */
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

/** Returns an amount without the zeros that pad it to its column's scale. */
export function plainAmount(amount: string): string {
  return new Money(amount).toFixed()
}

/** Returns a currency's number of decimals (ISO 4217); null for an unknown code. */
export function currencyExponent(currency: string): number | null {
  return currencyCodes.code(currency)?.digits ?? null
}

/** Returns a currency's sign, such as `€`; its code if it has none. */
export function currencySign(currency: string): string {
  const parts = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
  }).formatToParts(0)
  return parts.find(({ type }) => type === 'currency')?.value ?? currency
}

/** The ISO 4217 codes of all currencies. */
export function currencies(): readonly string[] {
  return currencyCodes.codes()
}

/** Returns why an amount is invalid in `currency`; null when it is valid. */
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

/** Returns an amount rounded half-up to the currency's decimals. Nothing else rounds. */
export function lineAmount(exact: Money, currency: string): string {
  return exact.toDecimalPlaces(currencyExponent(currency) ?? 6).toFixed()
}

export function sumOf(amounts: readonly string[]): string {
  return amounts.reduce((sum, amount) => sum.plus(amount), new Money(0)).toFixed()
}

export function isZero(amount: string): boolean {
  return new Money(amount).isZero()
}

/** Currencies whose minor unit is out of use, and which card networks still count with two decimals. */
const COUNTED_IN_HUNDREDTHS = ['ISK', 'UGX']

/**
 * Returns an amount in minor units; null if it has none, such as a fraction of a cent or, where networks round to two
 * of three decimals, a last digit.
 * @param amount a decimal string in units of the currency.
 */
export function minorUnits(amount: string, currency: string): number | null {
  const decimals = decimalsOf(currency)
  if (decimals === null) return null
  const exact = new Money(amount).times(new Money(10).pow(decimals))
  const isCountable = exact.isInteger() && (decimals < 3 || exact.modulo(10).isZero())
  return isCountable && exact.lessThanOrEqualTo(Number.MAX_SAFE_INTEGER) ? exact.toNumber() : null
}

/** Returns an amount in minor units as a decimal string, the reverse of `minorUnits`; null for an unknown currency. */
export function ofMinorUnits(amount: number, currency: string): string | null {
  const decimals = decimalsOf(currency)
  return decimals === null ? null : new Money(amount).dividedBy(new Money(10).pow(decimals)).toFixed()
}

function decimalsOf(currency: string): number | null {
  return COUNTED_IN_HUNDREDTHS.includes(currency) ? 2 : currencyExponent(currency)
}
