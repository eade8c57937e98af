import { randomBytes } from 'node:crypto'
import { AuthenticationToken, Customer, type CustomerCredential } from '../../db/entities/index.ts'
import type { InstallationFacts } from '../../db/installation.ts'
import { newId } from '../../db/new-id.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { references } from '../references.ts'
import { authenticationOptions } from './authentication-options.ts'
import type { KeyStore } from './create-api-key.ts'

export interface CreatedToken {
  readonly row: AuthenticationToken
  readonly value: string
}

/** For a customer whom the merchant has authenticated. Throws InvalidFieldsError naming `customerId`. */
export async function createPasswordlessToken(
  unit: UnitOfWork,
  store: KeyStore,
  customerId: string,
): Promise<CreatedToken> {
  const found = references(unit)
  await found.required(Customer, 'customerId', customerId)
  found.check()
  return await createToken(unit, store, { customerId, credential: null })
}

/** Creates an authentication token for the customer of a credential whose row is locked. */
export async function createTokenOfCredential(
  unit: UnitOfWork,
  store: KeyStore,
  credential: CustomerCredential,
): Promise<CreatedToken> {
  return await createToken(unit, store, { customerId: credential.customerId, credential })
}

/** The token lives as long as the organization's options say, and no longer than the credential. */
async function createToken(
  unit: UnitOfWork,
  { installation, environment, vault }: KeyStore,
  { customerId, credential }: { customerId: string; credential: CustomerCredential | null },
): Promise<CreatedToken> {
  const { authTokenTtl } = await authenticationOptions(unit.em, unit.organizationId)
  const value = `at_${environment}_${randomBytes(32).toString('base64url')}`
  const ends = unit.now.getTime() + authTokenTtl * 1_000
  const row = unit.create(AuthenticationToken, {
    id: newId('auth'),
    customerId,
    credentialId: credential?.id ?? null,
    username: credential?.username ?? null,
    tokenHash: authenticationTokenHash(installation, value),
    tokenCipher: await vault.seal(value),
    expiredTime: new Date(Math.min(ends, credential?.expiredTime?.getTime() ?? ends)),
  })
  return { row, value }
}

export function authenticationTokenHash(installation: InstallationFacts, value: string): string {
  return installation.hashKey(`authentication token:${value}`)
}
