import { billingSettings } from '../billing/billing-settings.ts'
import { jsonAmount } from '../billing/money.ts'
import { NO_TAXES, type TaxSettings } from '../billing/tax-settings.ts'
import type { Organization } from '../db/entities/index.ts'
import { resourceUrl } from './links.ts'

export function presentOrganization(organization: Organization, baseUrl: string) {
  return {
    id: organization.id,
    name: organization.name,
    website: organization.website ?? null,
    address: organization.address ?? null,
    address2: organization.address2 ?? null,
    city: organization.city ?? null,
    region: organization.region ?? null,
    country: organization.country ?? null,
    postalCode: organization.postalCode ?? null,
    phoneNumbers: organization.phoneNumbers,
    emails: organization.emails,
    taxDescriptor: organization.taxDescriptor ?? null,
    taxNumbers: organization.taxNumbers?.map((number) => ({ ...number, isValid: null })) ?? null,
    invoiceTimeZone: organization.invoiceTimeZone,
    reportCurrency: organization.reportCurrency ?? null,
    questionnaire: organization.questionnaire ?? null,
    settings: {
      billing: billingSettings(organization.settings.billing),
      documents: { logo: organization.logo ?? null },
      ...presentTaxSettings(organization.taxes ?? NO_TAXES),
    },
    features: [],
    revision: organization.revision,
    createdTime: organization.createdTime.toISOString(),
    updatedTime: organization.updatedTime.toISOString(),
    _links: [{ rel: 'self', href: resourceUrl(baseUrl, organization.id) }],
  }
}

function presentTaxSettings({ calculator, locations }: TaxSettings) {
  const rateOf = (rate: string | null) => (rate === null ? null : jsonAmount(rate))
  return {
    defaultTaxCalculator: calculator && {
      type: 'flat' as const,
      rate: rateOf(calculator.rate),
      isInclusive: calculator.isInclusive,
    },
    taxLocations: locations.map((location) => ({
      ...location,
      rate: rateOf(location.rate),
      categories: location.categories.map((one) => ({ ...one, rate: rateOf(one.rate) })),
    })),
  }
}
