/**
 * JWTs of customers. Keys, type and audience are their own, so that no other JWT passes for one. A JWT only
 * names its row: permissions and validity are read there on every request.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { type CustomerSigningKey, customerTokenKey } from '../../commands/access/customer-token-keys.ts'
import type { CustomerToken } from '../../db/entities/index.ts'
import type { Vault } from '../../db/vault.ts'

const TYPE = 'customer+jwt'
const ALGORITHM = 'HS256'
const ORGANIZATION = 'organizationId'

export interface CustomerTokenName {
  readonly organizationId: string
  readonly id: string
}

const KID = /^[\w-]{1,50}$/

export async function signCustomerToken(
  token: CustomerToken,
  { kid, secret }: CustomerSigningKey,
  baseUrl: string,
): Promise<string> {
  return await new SignJWT({ [ORGANIZATION]: token.organizationId })
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid })
    .setIssuer(`${baseUrl}/`)
    .setAudience(audience(baseUrl))
    .setSubject(token.customerId)
    .setJti(token.id)
    .setIssuedAt(Math.floor(token.createdTime.getTime() / 1000))
    // Whole seconds; the row has the exact end.
    .setExpirationTime(Math.ceil(token.expiredTime.getTime() / 1000))
    .sign(secret)
}

/** Returns a reader, which returns null unless our published key signed the customer's JWT and it is valid now. */
export function customerTokenReader(
  vault: Vault,
  baseUrl: string,
): (em: EntityManager, jwt: string, now: Date) => Promise<CustomerTokenName | null> {
  const keys = new Map<string, Uint8Array>()
  const keyOf = async (em: EntityManager, kid: unknown): Promise<Uint8Array> => {
    // The signature is not verified yet: the header may contain anything.
    if (typeof kid !== 'string' || !KID.test(kid)) throw new errors.JWKSNoMatchingKey()
    const key = keys.get(kid) ?? (await customerTokenKey(em, vault, kid))
    if (key === null) throw new errors.JWKSNoMatchingKey()
    keys.set(kid, key)
    return key
  }
  return async (em, jwt, now) => {
    try {
      const { payload } = await jwtVerify(jwt, ({ kid }) => keyOf(em, kid), {
        algorithms: [ALGORITHM],
        typ: TYPE,
        issuer: `${baseUrl}/`,
        audience: audience(baseUrl),
        requiredClaims: ['exp', 'jti', ORGANIZATION],
        currentDate: now,
      })
      return nameOf(payload)
    } catch (error) {
      if (error instanceof errors.JOSEError) return null
      throw error
    }
  }
}

function nameOf({ jti, [ORGANIZATION]: organizationId }: JWTPayload): CustomerTokenName | null {
  return typeof jti === 'string' && typeof organizationId === 'string' ? { organizationId, id: jti } : null
}

function audience(baseUrl: string): string {
  return `${baseUrl}/storefront`
}
