/** Taxes at the rates that an organization has set for countries and regions. It asks nobody. */
import { parseInstant } from '../billing/instants.ts'
import { isReverseCharge } from '../billing/tax-ids.ts'
import type { FlatTaxes, TaxLocation, TaxSettings } from '../billing/tax-settings.ts'
import type { TaxRate, TaxTerms } from '../billing/taxes.ts'
import type { TaxCalculator, TaxRequest } from './port.ts'

/** Returns the calculator of an organization's settings; null: it taxes nothing. */
export function locationRates({ calculator, locations }: TaxSettings): TaxCalculator | null {
  if (calculator === null) return null
  const starts = [...new Set([ALWAYS, ...locations.map(startOf)])].toSorted((one, other) => one - other)
  return {
    taxesOf: async (request) =>
      starts.map((from) => ({ from, ...termsAt(from, calculator, locations, request) })),
  }
}

/** The name of a tax that the customer owes, as invoices have to state it. */
const REVERSE_CHARGE = 'Reverse charge'
const ALWAYS = 0
const SHIPPING = 'shipping'

function termsAt(
  from: number,
  { rate, isInclusive }: FlatTaxes,
  locations: readonly TaxLocation[],
  { seller, buyer, products }: TaxRequest,
): TaxTerms {
  const { country, region } = buyer.country === null ? seller : buyer
  const flat = (of: Pick<TaxRate, 'name' | 'rate' | 'isReverseCharge'>): TaxTerms => {
    const rates = [{ ...of, country, region }]
    return { isInclusive, rates, shipping: rates, byProduct: {} }
  }
  if (isReverseCharge(seller, buyer)) return flat({ name: REVERSE_CHARGE, rate: '0', isReverseCharge: true })
  if (locations.length === 0) return flat({ name: 'Tax', rate: rate ?? '0' })
  const places = placesOf(locations, from, country, region)
  const ratesOf = (category: string | null): TaxRate[] =>
    places.map((place) => ({
      name: place.name,
      rate: place.categories.find((one) => one.taxCategoryId === category)?.rate ?? place.rate ?? rate ?? '0',
      country: place.country,
      region: place.region,
    }))
  return {
    isInclusive,
    rates: ratesOf(null),
    shipping: ratesOf(SHIPPING),
    byProduct: Object.fromEntries(
      products.flatMap(({ id, taxCategoryId }) =>
        taxCategoryId === null ? [] : [[id, ratesOf(taxCategoryId)]],
      ),
    ),
  }
}

/** Returns the taxes of a place that are in force: those of its region, where it has its own; of equal names the latest. */
function placesOf(
  locations: readonly TaxLocation[],
  at: number,
  country: string | null,
  region: string | null,
): TaxLocation[] {
  const own = locations.filter((one) => one.country === country && startOf(one) <= at)
  const regional = own.filter((one) => one.region !== null && isSame(one.region, region ?? ''))
  const found = regional.length > 0 ? regional : own.filter((one) => one.region === null)
  const names = [...new Set(found.map(({ name }) => name))]
  return names.flatMap((name) =>
    found
      .filter((one) => one.name === name)
      .toSorted((one, other) => startOf(other) - startOf(one))
      .slice(0, 1),
  )
}

function startOf({ startTime }: TaxLocation): number {
  return (startTime === null ? null : parseInstant(startTime)) ?? ALWAYS
}

function isSame(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase()
}
