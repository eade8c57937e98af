import { defineEntity, p } from '@mikro-orm/core'
import type { AccessRule } from '../../access/access-lists.ts'
import { id, instant, json, resourceColumns, tenantKey } from './columns.ts'

const AuthenticationTokenSchema = defineEntity({
  name: 'AuthenticationToken',
  tableName: 'authentication_tokens',
  indexes: [{ name: 'authentication_tokens_customer_index', properties: ['organizationId', 'customerId'] }],
  properties: {
    ...tenantKey,
    customerId: id(),
    /** The credential used, and its username then; null: the merchant asked for the token. */
    credentialId: id().nullable(),
    username: p.string().nullable(),
    tokenHash: p.string().length(64).unique('authentication_tokens_token_hash_unique'),
    /** null in rows of the first release. */
    tokenCipher: p.text().nullable(),
    expiredTime: instant(),
    /** From then on the token can only be ended. */
    consumedTime: instant().nullable(),
    ...resourceColumns,
  },
})

export class AuthenticationToken extends AuthenticationTokenSchema.class {}
AuthenticationTokenSchema.setClass(AuthenticationToken)

const CustomerTokenSchema = defineEntity({
  name: 'CustomerToken',
  tableName: 'customer_tokens',
  indexes: [
    { name: 'customer_tokens_customer_index', properties: ['organizationId', 'customerId'] },
    { name: 'customer_tokens_origin_index', properties: ['organizationId', 'authenticationTokenId'] },
  ],
  properties: {
    ...tenantKey,
    customerId: id(),
    authenticationTokenId: id(),
    acl: json<AccessRule[]>(),
    expiredTime: instant(),
    createdTime: instant(),
  },
})

/** A customer's JWT is valid only while this row exists. */
export class CustomerToken extends CustomerTokenSchema.class {}
CustomerTokenSchema.setClass(CustomerToken)

const CustomerTokenKeySchema = defineEntity({
  name: 'CustomerTokenKey',
  tableName: 'customer_token_keys',
  properties: {
    kid: p.string().length(50).primary(),
    /** 32 bytes in base64url. */
    keyCipher: p.text(),
    createdTime: instant(),
  },
})

/** Only the service verifies with it, so it has no public half. */
export class CustomerTokenKey extends CustomerTokenKeySchema.class {}
CustomerTokenKeySchema.setClass(CustomerTokenKey)
