import { defineEntity, p } from '@mikro-orm/core'
import { instant, listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

/** Stored as JSON in the ciphertext. */
export type WebhookAuth = { type: 'none' } | { type: 'basic'; username: string; password: string }

/** Only an active one is sent. */
export type ServiceCredentialStatus = 'active' | 'inactive' | 'deactivated'

export const serviceCredentialSearch = searchExpression('host')

const ServiceCredentialSchema = defineEntity({
  name: 'ServiceCredential',
  tableName: 'service_credentials',
  indexes: listIndexes('service_credentials', serviceCredentialSearch),
  properties: {
    /** The id is the hash by which webhooks refer to it. */
    ...tenantKey,
    /** The only host that receives it, without port. */
    host: p.string(),
    /** A `WebhookAuth`. */
    authCipher: p.text(),
    status: p.string().length(20).$type<ServiceCredentialStatus>(),
    deactivationTime: instant().nullable(),
    ...resourceColumns,
  },
})

export class ServiceCredential extends ServiceCredentialSchema.class {}
ServiceCredentialSchema.setClass(ServiceCredential)
