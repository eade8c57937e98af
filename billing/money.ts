/** Amounts: exact decimals, never more decimals than the currency has. */
import currencyCodes from 'currency-codes'
import { Decimal } from 'decimal.js'

/** Decimals of a currency by ISO 4217; null for a code the standard does not know. */
export function currencyExponent(currency: string): number | null {
  return currencyCodes.code(currency)?.digits ?? null
}

/** Why a number cannot be an amount of `currency`, as a sentence about it; null when it can. */
export function amountProblem(amount: number, currency: string): string | null {
  const exponent = currencyExponent(currency)
  if (exponent === null) return null
  const exact = new Decimal(amount)
  if (exact.abs().greaterThanOrEqualTo(1e12)) return 'must be below 10^12'
  return exact.decimalPlaces() > exponent
    ? `must not have more than ${exponent} decimals in ${currency}`
    : null
}
