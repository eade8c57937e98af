/** Amounts: exact decimals, never more decimals than the currency has. */
import currencyCodes from 'currency-codes'
import { Decimal } from 'decimal.js'

/** An exact decimal with room for every product of a price and a quantity; rounds half away from zero. */
export const Money = Decimal.clone({ precision: 60, rounding: Decimal.ROUND_HALF_UP })
export type Money = Decimal

/** Amounts lie strictly below this. */
export const AMOUNT_LIMIT = 1e12

/** Decimals of a currency by ISO 4217; null for a code the standard does not know. */
export function currencyExponent(currency: string): number | null {
  return currencyCodes.code(currency)?.digits ?? null
}

/** Why a number cannot be an amount of `currency`, as a sentence about it; null when it can. */
export function amountProblem(amount: number, currency: string): string | null {
  const exponent = currencyExponent(currency)
  if (exponent === null) return null
  const exact = new Money(amount)
  if (exact.abs().greaterThanOrEqualTo(AMOUNT_LIMIT)) return 'must be below 10^12'
  return exact.decimalPlaces() > exponent
    ? `must not have more than ${exponent} decimals in ${currency}`
    : null
}

/** An exact amount as a line carries it: rounded half-up to the currency's decimals. The only place that rounds. */
export function lineAmount(exact: Money, currency: string): string {
  return exact.toDecimalPlaces(currencyExponent(currency) ?? 6).toFixed()
}

/** The exact sum of amounts. */
export function sumOf(amounts: readonly string[]): string {
  return amounts.reduce((sum, amount) => sum.plus(amount), new Money(0)).toFixed()
}

/** Whether nothing is to be paid. */
export function isZero(amount: string): boolean {
  return new Money(amount).isZero()
}
