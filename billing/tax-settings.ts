/** How an organization taxes what it sells. Rates are decimal strings in percent. */
import type { InvalidField } from './errors.ts'

export interface TaxSettings {
  /** null: nothing is taxed. */
  readonly calculator: FlatTaxes | null
  /** Where tax is collected; none: from every customer, at the calculator's rate. */
  readonly locations: readonly TaxLocation[]
}

export interface FlatTaxes {
  /** Of locations without a rate of their own; null: every location has one. */
  readonly rate: string | null
  /** True if prices include their taxes. */
  readonly isInclusive: boolean
}

/** One tax of a country, or of a region of it in place of the country's. */
export interface TaxLocation {
  readonly address: string | null
  readonly city: string | null
  readonly region: string | null
  readonly country: string
  readonly postalCode: string | null
  readonly name: string
  readonly rate: string | null
  /** When the rate comes into force, in ISO 8601; null: it is in force. */
  readonly startTime: string | null
  /** Rates of products of a category, and of shipping (`shipping`). */
  readonly categories: readonly { readonly taxCategoryId: string; readonly rate: string }[]
}

export const NO_TAXES: TaxSettings = { calculator: null, locations: [] }

/** Without a rate nobody could say what is owed; two rates of one tax at one time contradict each other. */
export function taxSettingsProblems({ calculator, locations }: TaxSettings): InvalidField[] {
  const problems: InvalidField[] = []
  const seen = new Set<string>()
  const hasFlat = calculator === null || calculator.rate !== null
  if (!hasFlat && locations.length === 0) {
    const message = 'is required, unless every tax location has a rate'
    problems.push({ field: 'settings.defaultTaxCalculator.rate', code: 'required', message })
  }
  for (const [index, { country, region, name, rate, startTime, categories }] of locations.entries()) {
    const field = `settings.taxLocations.${index}`
    if (!hasFlat && rate === null) {
      const message = 'is required, because the tax calculator has no rate'
      problems.push({ field: `${field}.rate`, code: 'required', message })
    }
    const key = JSON.stringify([country, region?.trim().toLowerCase() ?? null, name, startTime])
    if (seen.has(key)) {
      const message = 'must differ from the other locations in country, region, name or startTime'
      problems.push({ field, code: 'not-unique', message })
    }
    seen.add(key)
    if (new Set(categories.map(({ taxCategoryId }) => taxCategoryId)).size < categories.length) {
      problems.push({
        field: `${field}.categories`,
        code: 'not-unique',
        message: 'must name each category once',
      })
    }
  }
  return problems
}
