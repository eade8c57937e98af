import type { EntityClass } from '@mikro-orm/core'
import { billingSettings } from '../../billing/billing-settings.ts'
import { canonicalJson } from '../../billing/canonical-json.ts'
import { InvalidFieldsError } from '../../billing/errors.ts'
import { NO_TAXES } from '../../billing/tax-settings.ts'
import { changeRow } from '../../db/change-row.ts'
import { Organization as OrganizationRow } from '../../db/entities/index.ts'
import { organizationSearch } from '../../db/entities/organization.ts'
import { lockOrganization } from '../../db/organization-lock.ts'
import { readLogo } from '../../documents/logo.ts'
import { presentOrganization } from '../../representations/organization.ts'
import { isNotModified, requirePreconditions } from '../http/preconditions.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { fieldsOf } from '../query/fields.ts'
import type { Resource, ResourceRow } from '../resources/resource.ts'
import { reachablesOf } from '../schemas/contact.ts'
import { Organization } from '../schemas/organization.ts'
import { taxNumbersOf } from '../schemas/tax-number.ts'
import { taxSettingsOf } from './tax-settings.ts'

type ListedOrganization = OrganizationRow & ResourceRow

export const organizations: Resource<ListedOrganization> = {
  name: 'Organization',
  label: 'organization',
  path: '/organizations',
  schema: Organization,
  entity: OrganizationRow as unknown as EntityClass<ListedOrganization>,
  table: 'organizations',
  rows: '(select *, id as organization_id from organizations)',
  search: organizationSearch,
  fields: fieldsOf(Organization),
  present: (row, { baseUrl }) => presentOrganization(row, baseUrl),
}

export async function getOrganization(context: OperationContext): Promise<OperationResponse> {
  const { em, organizationId, preconditions, baseUrl } = context
  const row = await em.findOneOrFail(OrganizationRow, { id: organizationId })
  if (isNotModified(preconditions, row.revision)) return { status: 304, revision: row.revision }
  return { body: presentOrganization(row, baseUrl), revision: row.revision }
}

export async function putOrganization(context: OperationContext): Promise<OperationResponse> {
  return await change(context, () => context.body<Organization>())
}

export async function patchOrganization(context: OperationContext): Promise<OperationResponse> {
  return await change(context, (current) => context.patchedBody<Organization>(current).body)
}

async function change(
  context: OperationContext,
  read: (current: object) => Organization,
): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const row = await lockOrganization(unit)
    requirePreconditions(context.preconditions, row.revision)
    const body = read(presentOrganization(row, context.baseUrl))
    await changeRow(unit, row, () => assign(row, body))
    return { body: presentOrganization(row, context.baseUrl), revision: row.revision }
  })
}

function assign(row: OrganizationRow, body: Organization): void {
  const { invoiceTimeZone = 'UTC', questionnaire } = body
  if (invoiceTimeZone !== row.invoiceTimeZone && !isTimeZone(invoiceTimeZone)) {
    const message = 'must be the name of a time zone, such as Europe/Berlin'
    throw new InvalidFieldsError([{ field: 'invoiceTimeZone', code: 'not-one-of', message }])
  }
  row.name = body.name
  row.website = body.website ?? null
  row.address = body.address ?? null
  row.address2 = body.address2 ?? null
  row.city = body.city ?? null
  row.region = body.region ?? null
  row.country = body.country ?? null
  row.postalCode = body.postalCode ?? null
  row.phoneNumbers = reachablesOf(body.phoneNumbers)
  row.emails = reachablesOf(body.emails)
  row.taxDescriptor = body.taxDescriptor ?? null
  row.taxNumbers = body.taxNumbers == null ? null : taxNumbersOf(body.taxNumbers)
  row.invoiceTimeZone = invoiceTimeZone
  row.reportCurrency = body.reportCurrency ?? null
  row.questionnaire =
    questionnaire == null
      ? null
      : {
          role: questionnaire.role ?? null,
          monthlyTransactions: questionnaire.monthlyTransactions ?? null,
          products: questionnaire.products ?? null,
          integrationType: questionnaire.integrationType ?? null,
          launchTiming: questionnaire.launchTiming ?? null,
        }
  row.logo = logoOf(body, row)
  const known = row.taxes ?? NO_TAXES
  const taxes = taxSettingsOf(body, known)
  // Settings that were never made stay so while they show the same.
  if (canonicalJson(taxes) !== canonicalJson(known)) row.taxes = taxes
  const billing = billingSettings(body.settings?.billing)
  // Settings that were never set stay so while they show the same.
  if (canonicalJson(billing) !== canonicalJson(billingSettings(row.settings.billing)))
    row.settings = { billing }
}

function logoOf({ settings }: Organization, row: OrganizationRow): string | null {
  const logo = settings?.documents?.logo ?? null
  const read = logo === null || logo === row.logo ? null : readLogo(logo)
  if (read !== null && 'problem' in read) {
    const field = 'settings.documents.logo'
    throw new InvalidFieldsError([{ field, code: 'wrong-format', message: read.problem }])
  }
  return logo
}

function isTimeZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
