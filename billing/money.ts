/**
 * Amounts. Between functions, in rows and in documents an amount is an exact decimal string in the currency's units, such as
 * `12.5`; whoever computes makes a `Money` of it and hands a string on. JSON numbers become such strings by `amountOf` as
 * they come in, and strings become numbers by `jsonAmount` as they go out: nowhere else is an amount a number.
 */
import currencyCodes from 'currency-codes'
import { Decimal } from 'decimal.js'

/** The one type that computes with amounts: an exact decimal with room for every product of a price and a quantity; rounds half away from zero. */
export const Money = Decimal.clone({ precision: 60, rounding: Decimal.ROUND_HALF_UP })
export type Money = Decimal

/** Amounts lie strictly below this. */
export const AMOUNT_LIMIT = 1e12

/** A JSON number as the exact amount that it spells. */
export function amountOf(value: number): string {
  return new Money(value).toFixed()
}

/** An amount as JSON shows it. */
export function jsonAmount(amount: string): number {
  return new Money(amount).toNumber()
}

/** An amount of a column, without the zeros that pad it to the column's scale. */
export function plainAmount(amount: string): string {
  return new Money(amount).toFixed()
}

/** Decimals of a currency by ISO 4217; null for a code the standard does not know. */
export function currencyExponent(currency: string): number | null {
  return currencyCodes.code(currency)?.digits ?? null
}

/** Why an amount cannot be one of `currency`, as a sentence about it; null when it can. */
export function amountProblem(amount: string, currency: string): string | null {
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
