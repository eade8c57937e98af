import { defineEntity, p } from '@mikro-orm/core'
import { listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

/** What a receiver asks for; kept as JSON inside the ciphertext. */
export type WebhookAuth = { type: 'none' } | { type: 'basic'; username: string; password: string }

/** What `q` searches. */
export const serviceCredentialSearch = searchExpression('host')

const ServiceCredentialSchema = defineEntity({
  name: 'ServiceCredential',
  tableName: 'service_credentials',
  indexes: listIndexes('service_credentials', serviceCredentialSearch),
  properties: {
    /** The id is the hash by which webhooks name it. */
    ...tenantKey,
    /** The only host it is ever sent to, without port, as it was given. */
    host: p.string(),
    /** A `WebhookAuth`, encrypted by the vault. */
    authCipher: p.text(),
    status: p.string().length(10).$type<'active' | 'inactive'>(),
    ...resourceColumns,
  },
})

/** What webhooks show to one receiver to be let in. */
export class ServiceCredential extends ServiceCredentialSchema.class {}
ServiceCredentialSchema.setClass(ServiceCredential)
