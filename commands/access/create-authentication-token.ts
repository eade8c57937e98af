import { randomBytes } from 'node:crypto'
import { AUTHENTICATION_TOKEN_LIFETIME } from '../../access/credential-lifetimes.ts'
import { AuthenticationToken, Customer } from '../../db/entities/index.ts'
import { newId } from '../../db/ids.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { references } from '../references.ts'
import type { KeyStore } from './create-api-key.ts'

/**
 * Creates an authentication token for a customer, valid for an hour, and returns its value, which is stored
 * only hashed.
 *
 * @throws InvalidFieldsError naming `customerId`.
 */
export async function createAuthenticationToken(
  unit: UnitOfWork,
  { installation, environment }: Pick<KeyStore, 'installation' | 'environment'>,
  customerId: string,
): Promise<{ readonly row: AuthenticationToken; readonly value: string }> {
  const { em, organizationId, now } = unit
  const found = references(unit)
  await found.required(Customer, 'customerId', customerId)
  found.check()
  const value = `at_${environment}_${randomBytes(32).toString('base64url')}`
  const row = em.create(AuthenticationToken, {
    organizationId,
    id: newId('auth'),
    customerId,
    tokenHash: installation.hashKey(`authentication token:${value}`),
    expiredTime: new Date(now.getTime() + AUTHENTICATION_TOKEN_LIFETIME),
    createdTime: now,
  })
  em.persist(row)
  return { row, value }
}
