import { LockMode } from '@mikro-orm/core'
import type { AccessRule } from '../../access/permissions.ts'
import { AuthenticationToken, CustomerToken } from '../../db/entities/index.ts'
import { newId } from '../../db/ids.ts'
import type { InstallationFacts } from '../../db/installation.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'

type Scope = Pick<UnitOfWork, 'em' | 'organizationId'>

/** The token of that value, as it stands; null when the organization has none such. */
export async function findAuthenticationToken(
  { em, organizationId }: Scope,
  installation: InstallationFacts,
  value: string,
  lock = false,
): Promise<AuthenticationToken | null> {
  const tokenHash = installation.hashKey(`authentication token:${value}`)
  return await em.findOne(
    AuthenticationToken,
    { organizationId, tokenHash },
    lock ? { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } : { refresh: true },
  )
}

/** Whether it stands for its customer at an instant: neither expired nor exchanged for good. */
export function isValid({ expiredTime, consumedTime }: AuthenticationToken, now: Date): boolean {
  return consumedTime == null && expiredTime > now
}

/** Makes a customer token of a locked one, which is good for no other from then on if it is to be spent. */
export function exchangeAuthenticationToken(
  { em, organizationId, now }: UnitOfWork,
  token: AuthenticationToken,
  given: { readonly acl: AccessRule[]; readonly expiredTime: Date; readonly isConsumed: boolean },
): CustomerToken {
  const made = em.create(CustomerToken, {
    organizationId,
    id: newId('cust'),
    customerId: token.customerId,
    authenticationTokenId: token.id,
    acl: given.acl,
    expiredTime: given.expiredTime,
    createdTime: now,
  })
  em.persist(made)
  if (given.isConsumed) token.consumedTime = now
  return made
}

/** Ends a locked token, spent or not, and every customer token that came of it. */
export async function endAuthenticationToken(
  { em, organizationId }: UnitOfWork,
  token: AuthenticationToken,
): Promise<void> {
  await em.nativeDelete(CustomerToken, { organizationId, authenticationTokenId: token.id })
  em.remove(token)
}

/** Ends whatever stands for a customer whose row is locked, so that nothing can begin to. */
export async function endTokensOf({ em, organizationId }: UnitOfWork, customerId: string): Promise<void> {
  // The tokens first: an exchange holds one of them until it has written what came of it.
  await em.nativeDelete(AuthenticationToken, { organizationId, customerId })
  await em.nativeDelete(CustomerToken, { organizationId, customerId })
}
