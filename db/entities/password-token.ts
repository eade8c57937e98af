import { defineEntity, p } from '@mikro-orm/core'
import { id, instant, newestIndex, resourceColumns, tenantKey } from './columns.ts'

const PasswordTokenSchema = defineEntity({
  name: 'PasswordToken',
  tableName: 'password_tokens',
  indexes: [
    newestIndex('password_tokens'),
    { name: 'password_tokens_credential_index', properties: ['organizationId', 'credentialId'] },
    { name: 'password_tokens_customer_index', properties: ['organizationId', 'customerId'] },
  ],
  properties: {
    ...tenantKey,
    credentialId: id(),
    customerId: id(),
    username: p.string(),
    tokenHash: p.string().length(64).unique('password_tokens_token_hash_unique'),
    tokenCipher: p.text(),
    expiredTime: instant(),
    ...resourceColumns,
  },
})

export class PasswordToken extends PasswordTokenSchema.class {}
PasswordTokenSchema.setClass(PasswordToken)
