import { billingSettings } from '../billing/billing-settings.ts'
import type { Organization } from '../db/entities/index.ts'
import { resourceUrl } from './links.ts'

/** Returns an organization for the API; defaults replace settings that were never set. */
export function presentOrganization(organization: Organization, baseUrl: string) {
  return {
    id: organization.id,
    name: organization.name,
    settings: { billing: billingSettings(organization.settings.billing) },
    revision: organization.revision,
    createdTime: organization.createdTime.toISOString(),
    updatedTime: organization.updatedTime.toISOString(),
    _links: [{ rel: 'self', href: resourceUrl(baseUrl, organization.id) }],
  }
}
