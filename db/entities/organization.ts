import { defineEntity, p } from '@mikro-orm/core'
import type { GivenBillingSettings } from '../../billing/billing-settings.ts'
import type { Reachable } from '../../billing/contacts.ts'
import type { TaxSettings } from '../../billing/tax-settings.ts'
import { EMPTY_ARRAY, id, json, resourceColumns, searchExpression } from './columns.ts'
import type { TaxNumber } from './customer.ts'

export interface OrganizationSettings {
  /** Only settings that were set. */
  billing?: GivenBillingSettings
}

export interface Questionnaire {
  role: string | null
  monthlyTransactions: string | null
  products: string[] | null
  integrationType: string | null
  launchTiming: string | null
}

/** Without an index: a caller lists its own organization only. */
export const organizationSearch = searchExpression(
  'name',
  'website',
  'city',
  'region',
  'country',
  'postal_code',
)

const OrganizationSchema = defineEntity({
  name: 'Organization',
  tableName: 'organizations',
  properties: {
    id: id().primary(),
    name: p.string(),
    website: p.text().nullable(),
    address: p.string().nullable(),
    address2: p.string().nullable(),
    city: p.string().nullable(),
    region: p.string().nullable(),
    country: p.string().length(2).nullable(),
    postalCode: p.string().nullable(),
    phoneNumbers: json<Reachable[]>().defaultRaw(EMPTY_ARRAY),
    emails: json<Reachable[]>().defaultRaw(EMPTY_ARRAY),
    taxDescriptor: p.string().nullable(),
    taxNumbers: json<TaxNumber[]>().nullable(),
    invoiceTimeZone: p.string().default('UTC'),
    reportCurrency: p.string().length(3).nullable(),
    /** A data URL. Not one of the settings, which are read with every order. */
    logo: p.text().nullable(),
    /** Rates are decimal strings in percent. Not one of the settings, which are read with every order. */
    taxes: json<TaxSettings>().nullable(),
    questionnaire: json<Questionnaire>().nullable(),
    settings: json<OrganizationSettings>(),
    ...resourceColumns,
  },
})

export class Organization extends OrganizationSchema.class {}
OrganizationSchema.setClass(Organization)
