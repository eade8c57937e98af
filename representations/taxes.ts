import type { CreditedTax } from '../billing/credit-memos.ts'
import type { InvoiceLine } from '../billing/invoices.ts'
import { jsonAmount, Money, sumOf } from '../billing/money.ts'
import { type TaxRate, taxOf, taxText, taxTotals } from '../billing/taxes.ts'

/** Returns the taxes of a line as one; null: none. Those of a credit are shown as its price is, without a sign. */
export function presentLineTax({ taxes = [] }: Pick<InvoiceLine, 'taxes'>) {
  const [first] = taxes
  if (first === undefined) return null
  const absolute = (amounts: readonly string[]) => jsonAmount(new Money(sumOf(amounts)).abs().toFixed())
  const ofRegion = taxes.filter(({ region }) => region !== null)
  return {
    amount: absolute(taxes.map(({ amount }) => amount)),
    description: taxes.map(taxText).join(' + '),
    rate: jsonAmount(sumOf(taxes.map(({ rate }) => rate))),
    ...partsOf(
      ofRegion.length === 0 ? null : absolute(ofRegion.map(({ amount }) => amount)),
      ofRegion.length === 0 ? null : jsonAmount(sumOf(ofRegion.map(({ rate }) => rate))),
    ),
    ...jurisdictionsOf(first),
  }
}

/** Returns the taxes of an invoice, one item for each rate. */
export function presentTaxes(lines: readonly InvoiceLine[]) {
  return {
    calculator: 'manual' as const,
    amount: jsonAmount(taxOf(lines)),
    isInclusive: lines.some(({ taxes = [] }) => taxes.some(({ isIncluded }) => isIncluded)),
    items: taxTotals(lines).map((tax) => {
      const [amount, rate] = [jsonAmount(tax.amount), jsonAmount(tax.rate)]
      const isOfRegion = tax.region !== null
      return {
        amount,
        description: taxText(tax),
        rate,
        taxableAmount: jsonAmount(tax.base),
        ...partsOf(isOfRegion ? amount : null, isOfRegion ? rate : null),
        ...jurisdictionsOf(tax),
      }
    }),
  }
}

/** Returns a tax as the caller of a credit memo has stated it. */
export function presentCreditedTax({ amount, description, rate, parts, jurisdictions }: CreditedTax) {
  return {
    amount: jsonAmount(amount),
    description,
    rate: rate === null ? null : jsonAmount(rate),
    ...partsOf(null, null),
    ...Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, jsonAmount(value)])),
    jurisdictions,
  }
}

function partsOf(stateAmount: number | null, stateRate: number | null) {
  return {
    stateAmount,
    countyAmount: null,
    cityAmount: null,
    specialDistrictAmount: null,
    stateRate,
    countyRate: null,
    cityRate: null,
    specialDistrictRate: null,
  }
}

function jurisdictionsOf({ country, region }: TaxRate) {
  return { jurisdictions: { country, state: region, county: null, city: null } }
}
