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
    /** That of the credential when the token was created. */
    username: p.string(),
    /** Keyed hash of the value, for looking up a presented token. */
    tokenHash: p.string().length(64).unique('password_tokens_token_hash_unique'),
    /** The value, encrypted by the vault. */
    tokenCipher: p.text(),
    expiredTime: instant(),
    ...resourceColumns,
  },
})

/** Shows a merchant that a customer who forgot the password owns the mailbox that the token was sent to. */
export class PasswordToken extends PasswordTokenSchema.class {}
PasswordTokenSchema.setClass(PasswordToken)
