import { billingSettings } from '../billing/billing-settings.ts'
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
    },
    features: [],
    revision: organization.revision,
    createdTime: organization.createdTime.toISOString(),
    updatedTime: organization.updatedTime.toISOString(),
    _links: [{ rel: 'self', href: resourceUrl(baseUrl, organization.id) }],
  }
}
