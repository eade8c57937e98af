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
    username: p.string(),
    usernameDigest: p.string().length(64),
    /** One-way, with its parameters. */
    passwordHash: p.text(),
    expiredTime: instant().nullable(),
    ...resourceColumns,
  },
})

export class CustomerCredential extends CustomerCredentialSchema.class {}
CustomerCredentialSchema.setClass(CustomerCredential)
