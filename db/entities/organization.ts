import { defineEntity, p } from '@mikro-orm/core'
import type { GivenBillingSettings } from '../../billing/billing-settings.ts'
import { id, json, resourceColumns } from './columns.ts'

export interface OrganizationSettings {
  /** Only settings that were set. */
  billing?: GivenBillingSettings
}

const OrganizationSchema = defineEntity({
  name: 'Organization',
  tableName: 'organizations',
  properties: {
    id: id().primary(),
    name: p.string(),
    settings: json<OrganizationSettings>(),
    ...resourceColumns,
  },
})

export class Organization extends OrganizationSchema.class {}
OrganizationSchema.setClass(Organization)
