import { defineEntity, p } from '@mikro-orm/core'
import { instant, tenantKey } from './columns.ts'

const SignInFailureSchema = defineEntity({
  name: 'SignInFailure',
  tableName: 'sign_in_failures',
  indexes: [
    { name: 'sign_in_failures_subject_index', properties: ['organizationId', 'subject', 'failedTime'] },
    { name: 'sign_in_failures_failed_index', properties: ['failedTime'] },
  ],
  properties: {
    ...tenantKey,
    /** Digest of the username, known or not, and the caller's address. */
    subject: p.string().length(64),
    failedTime: instant(),
  },
})

export class SignInFailure extends SignInFailureSchema.class {}
SignInFailureSchema.setClass(SignInFailure)
