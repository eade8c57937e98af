/** `settings.defaultTaxCalculator` and `settings.taxLocations` of an organization. */
import { type InvalidField, InvalidFieldsError } from '../../billing/errors.ts'
import { amountOf } from '../../billing/money.ts'
import { type TaxLocation, type TaxSettings, taxSettingsProblems } from '../../billing/tax-settings.ts'
import type { Organization } from '../schemas/organization.ts'
import { instantTextOf } from './instants.ts'

/** `stored`: what the body may repeat. Throws InvalidFieldsError. */
export function taxSettingsOf({ settings }: Organization, stored: TaxSettings): TaxSettings {
  const given = settings?.defaultTaxCalculator ?? null
  const taxes = {
    calculator: given && { rate: rateOf(given.rate), isInclusive: given.isInclusive ?? false },
    locations: (settings?.taxLocations ?? []).map((given, index) =>
      locationOf(given, stored.locations[index]),
    ),
  }
  const problems: InvalidField[] = taxSettingsProblems(taxes)
  if (problems.length > 0) throw new InvalidFieldsError(problems)
  return taxes
}

type GivenLocation = NonNullable<NonNullable<Organization['settings']>['taxLocations']>[number]

function locationOf(given: GivenLocation, stored: TaxLocation | undefined): TaxLocation {
  return {
    address: given.address ?? null,
    city: given.city ?? null,
    region: given.region ?? null,
    country: given.country,
    postalCode: given.postalCode ?? null,
    name: given.name ?? 'Tax',
    rate: rateOf(given.rate),
    startTime: given.startTime == null ? null : instantTextOf(given.startTime, stored?.startTime),
    categories: (given.categories ?? []).map(({ taxCategoryId, rate }) => ({
      taxCategoryId,
      rate: amountOf(rate),
    })),
  }
}

function rateOf(rate: number | null | undefined): string | null {
  return rate == null ? null : amountOf(rate)
}
