import { randomBytes } from 'node:crypto'
import { LockMode } from '@mikro-orm/core'
import { usernameDigest } from '../../access/usernames.ts'
import { InvalidFieldsError } from '../../billing/errors.ts'
import { CustomerCredential, PasswordToken } from '../../db/entities/index.ts'
import type { InstallationFacts } from '../../db/installation.ts'
import { newId } from '../../db/new-id.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { authenticationOptions } from './authentication-options.ts'
import type { KeyStore } from './create-api-key.ts'

/** A new password ends the token. Throws InvalidFieldsError naming `username` or `credentialId`. */
export async function createPasswordToken(
  unit: UnitOfWork,
  { installation, environment, vault }: KeyStore,
  { username, credentialId }: { readonly username: string; readonly credentialId: string | null },
): Promise<{ readonly row: PasswordToken; readonly value: string }> {
  const { em, organizationId } = unit
  const credential = await em.findOne(
    CustomerCredential,
    { organizationId, usernameDigest: usernameDigest(username) },
    // A new password, which ends tokens, waits until this one is committed.
    { lockMode: LockMode.PESSIMISTIC_READ, refresh: true },
  )
  if (credential === null) {
    throw new InvalidFieldsError([
      { field: 'username', code: 'not-found', message: 'must be the username of a credential' },
    ])
  }
  if (credentialId !== null && credentialId !== credential.id) {
    const message = 'must be the id of the credential with this username'
    throw new InvalidFieldsError([{ field: 'credentialId', code: 'mismatch', message }])
  }
  const { resetTokenTtl } = await authenticationOptions(em, organizationId)
  const value = `pt_${environment}_${randomBytes(32).toString('base64url')}`
  const row = unit.create(PasswordToken, {
    id: newId('pwt'),
    credentialId: credential.id,
    customerId: credential.customerId,
    username: credential.username,
    tokenHash: passwordTokenHash(installation, value),
    tokenCipher: await vault.seal(value),
    expiredTime: new Date(unit.now.getTime() + resetTokenTtl * 1_000),
  })
  return { row, value }
}

export async function findPasswordToken(
  { em, organizationId, now }: Pick<UnitOfWork, 'em' | 'organizationId' | 'now'>,
  installation: InstallationFacts,
  value: string,
): Promise<PasswordToken | null> {
  return await em.findOne(PasswordToken, {
    organizationId,
    tokenHash: passwordTokenHash(installation, value),
    expiredTime: { $gt: now },
  })
}

function passwordTokenHash(installation: InstallationFacts, value: string): string {
  return installation.hashKey(`password token:${value}`)
}
