import { defineEntity, p } from '@mikro-orm/core'
import { id, resourceColumns } from './columns.ts'

const AuthenticationOptionsSchema = defineEntity({
  name: 'AuthenticationOptions',
  tableName: 'authentication_options',
  properties: {
    organizationId: id().primary(),
    /** What every new password must match; null: anything. */
    passwordPattern: p.text().nullable(),
    /** Lifetimes are in seconds. 0: credentials do not expire. */
    credentialTtl: p.integer(),
    authTokenTtl: p.integer(),
    resetTokenTtl: p.integer(),
    ...resourceColumns,
  },
})

/** An organization without a row has the defaults. */
export class AuthenticationOptions extends AuthenticationOptionsSchema.class {}
AuthenticationOptionsSchema.setClass(AuthenticationOptions)
