import { defineEntity, p } from '@mikro-orm/core'
import type { AccessRule } from '../../access/permissions.ts'
import { id, instant, json, tenantKey } from './columns.ts'

const AuthenticationTokenSchema = defineEntity({
  name: 'AuthenticationToken',
  tableName: 'authentication_tokens',
  indexes: [{ name: 'authentication_tokens_customer_index', properties: ['organizationId', 'customerId'] }],
  properties: {
    ...tenantKey,
    customerId: id(),
    /** Keyed hash of the value: what a presented token is looked up by. */
    tokenHash: p.string().length(64).unique('authentication_tokens_token_hash_unique'),
    expiredTime: instant(),
    /** When it was exchanged for good; it can only be ended from then on. */
    consumedTime: instant().nullable(),
    createdTime: instant(),
  },
})

/** A merchant's word that a browser is a customer's, to be exchanged for a customer token. */
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

/** What makes a customer's JWT good: gone, the JWT is worth nothing. */
export class CustomerToken extends CustomerTokenSchema.class {}
CustomerTokenSchema.setClass(CustomerToken)

const CustomerTokenKeySchema = defineEntity({
  name: 'CustomerTokenKey',
  tableName: 'customer_token_keys',
  properties: {
    kid: p.string().length(50).primary(),
    /** 32 bytes in base64url, encrypted by the vault. */
    keyCipher: p.text(),
    createdTime: instant(),
  },
})

/** A key that signs customers' JWTs; nobody but the service checks them, so it has no public half. */
export class CustomerTokenKey extends CustomerTokenKeySchema.class {}
CustomerTokenKeySchema.setClass(CustomerTokenKey)
