import { defineEntity, p } from '@mikro-orm/core'
import { id, instant, newestIndex, resourceColumns, tenantKey } from './columns.ts'

const CustomerCredentialSchema = defineEntity({
  name: 'CustomerCredential',
  tableName: 'customer_credentials',
  indexes: [
    newestIndex('customer_credentials'),
    { name: 'customer_credentials_customer_index', properties: ['organizationId', 'customerId'] },
  ],
  uniques: [
    { name: 'customer_credentials_username_unique', properties: ['organizationId', 'usernameDigest'] },
  ],
  properties: {
    ...tenantKey,
    customerId: id(),
    /** As it was given. */
    username: p.string(),
    /** Digest for looking up a username in any case. */
    usernameDigest: p.string().length(64),
    /** One-way hash with its parameters; the password itself is nowhere. */
    passwordHash: p.text(),
    expiredTime: instant().nullable(),
    ...resourceColumns,
  },
})

/** The username and password with which a customer signs in. */
export class CustomerCredential extends CustomerCredentialSchema.class {}
CustomerCredentialSchema.setClass(CustomerCredential)
