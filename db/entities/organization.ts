import { defineEntity, p } from '@mikro-orm/core'
import { id, json, resourceColumns } from './columns.ts'

export interface OrganizationSettings {
  billing?: {
    pendingOrderTtl?: string | null
    /** Durations after the first decline of an invoice's charge. */
    autopayRetries?: string[]
  }
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

/** A merchant: the tenant that every other row belongs to. */
export class Organization extends OrganizationSchema.class {}
OrganizationSchema.setClass(Organization)
