import { defineEntity, p } from '@mikro-orm/core'
import { id, resourceColumns } from './columns.ts'

const AuthenticationOptionsSchema = defineEntity({
  name: 'AuthenticationOptions',
  tableName: 'authentication_options',
  properties: {
    organizationId: id().primary(),
    /** What every new password must match; null: anything. */
    passwordPattern: p.text().nullable(),
    /** Default lifetime of credentials, in seconds; 0: they do not expire. */
    credentialTtl: p.integer(),
    /** Lifetime of authentication tokens, in seconds. */
    authTokenTtl: p.integer(),
    /** Lifetime of password tokens, in seconds. */
    resetTokenTtl: p.integer(),
    ...resourceColumns,
  },
})

/** How an organization's customers sign in. An organization without a row has the defaults. */
export class AuthenticationOptions extends AuthenticationOptionsSchema.class {}
AuthenticationOptionsSchema.setClass(AuthenticationOptions)
