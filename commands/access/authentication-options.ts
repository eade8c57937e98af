import type { EntityManager } from '@mikro-orm/postgresql'
import { AuthenticationOptions } from '../../db/entities/index.ts'
import { plainRowReader } from '../../db/plain-rows.ts'
import { statement } from '../../db/statement.ts'

/** Lifetimes are in seconds; credentials with a lifetime of 0 do not expire. */
export interface GivenAuthenticationOptions {
  readonly passwordPattern: string | null
  readonly credentialTtl: number
  readonly authTokenTtl: number
  readonly resetTokenTtl: number
}

export const DEFAULT_OPTIONS: GivenAuthenticationOptions = {
  passwordPattern: null,
  credentialTtl: 0,
  authTokenTtl: 3_600,
  resetTokenTtl: 3_600,
}

export async function authenticationOptions(
  em: EntityManager,
  organizationId: string,
): Promise<GivenAuthenticationOptions> {
  const [row] = await statement<Record<string, unknown>>(
    em,
    'read-authentication-options',
    'select * from authentication_options where organization_id = ?',
    [organizationId],
  )
  if (row === undefined) return DEFAULT_OPTIONS
  const { passwordPattern = null, ...lifetimes } = plainRowReader(em, AuthenticationOptions)(row)
  return { ...lifetimes, passwordPattern }
}
