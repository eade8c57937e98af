import { LockMode } from '@mikro-orm/core'
import type { AccessRule } from '../../access/access-lists.ts'
import { AuthenticationToken, CustomerCredential, CustomerToken } from '../../db/entities/index.ts'
import type { InstallationFacts } from '../../db/installation.ts'
import { newId } from '../../db/new-id.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { authenticationTokenHash } from './create-authentication-token.ts'

type Scope = Pick<UnitOfWork, 'em' | 'organizationId'>

export async function findAuthenticationToken(
  { em, organizationId }: Scope,
  installation: InstallationFacts,
  value: string,
  lock = false,
): Promise<AuthenticationToken | null> {
  const tokenHash = authenticationTokenHash(installation, value)
  return await em.findOne(
    AuthenticationToken,
    { organizationId, tokenHash },
    lock ? { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } : { refresh: true },
  )
}

export function isValid({ expiredTime, consumedTime }: AuthenticationToken, now: Date): boolean {
  return consumedTime == null && expiredTime > now
}

/** Issues a customer token from a locked authentication token; it lives no longer than the credential of that. */
export async function exchangeAuthenticationToken(
  { em, organizationId, now }: UnitOfWork,
  token: AuthenticationToken,
  given: { readonly acl: AccessRule[]; readonly expiredTime: Date; readonly isConsumed: boolean },
): Promise<CustomerToken> {
  const credential =
    token.credentialId == null
      ? null
      : await em.findOne(CustomerCredential, { organizationId, id: token.credentialId })
  const ends = Math.min(
    given.expiredTime.getTime(),
    credential?.expiredTime?.getTime() ?? Number.POSITIVE_INFINITY,
  )
  const made = em.create(CustomerToken, {
    organizationId,
    id: newId('cust'),
    customerId: token.customerId,
    authenticationTokenId: token.id,
    acl: given.acl,
    expiredTime: new Date(ends),
    createdTime: now,
  })
  em.persist(made)
  if (given.isConsumed) token.consumedTime = now
  return made
}

/** Ends a locked token, consumed or not, and every customer token issued from it. */
export async function endAuthenticationToken(
  { em, organizationId }: UnitOfWork,
  token: AuthenticationToken,
): Promise<void> {
  await em.nativeDelete(CustomerToken, { organizationId, authenticationTokenId: token.id })
  em.remove(token)
}

export async function endTokensOf({ em, organizationId }: UnitOfWork, customerId: string): Promise<void> {
  // Authentication tokens first: an exchange locks its token until the customer token is written.
  await em.nativeDelete(AuthenticationToken, { organizationId, customerId })
  await em.nativeDelete(CustomerToken, { organizationId, customerId })
}
