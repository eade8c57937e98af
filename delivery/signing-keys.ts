/** Keys that sign webhooks: created once, stored encrypted and published as a JWK set. */
import type { EntityManager } from '@mikro-orm/postgresql'
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import { lockUntilCommit } from '../db/advisory-locks.ts'
import { SigningKey } from '../db/entities/index.ts'
import type { Vault } from '../db/vault.ts'

export interface PublishedKey {
  readonly kty: string
  readonly n: string
  readonly e: string
  readonly alg: 'RS256'
  readonly use: 'sig'
  readonly kid: string
}

export interface SigningKeyPair {
  readonly kid: string
  readonly privateKey: CryptoKey
}

/**
 * How long a new key is published before it signs, and an old one after it last signed, in milliseconds. A receiver may
 * cache the set for an hour (specification 6.2). The rest allows for clocks that differ, the cache of a signing process
 * and the five minutes for which a signature is valid.
 */
export const KEY_OVERLAP = 70 * 60_000

export class RotationPendingError extends Error {
  override readonly name = 'RotationPendingError'
}

/** Creates the first key of an installation if there is none. Processes that start together agree on one. */
export async function ensureSigningKey(em: EntityManager, vault: Vault, now: Date): Promise<void> {
  await em.transactional(async (trx) => {
    await lockKeys(trx)
    if ((await trx.count(SigningKey)) > 0) return
    await addKey(trx, vault, now, now)
  })
}

/**
 * Publishes a new key that signs from `KEY_OVERLAP` later, and removes keys that no receiver needs any more.
 * @throws RotationPendingError while the key of an earlier rotation does not sign yet.
 */
export async function rotateSigningKey(
  em: EntityManager,
  vault: Vault,
  now: Date,
): Promise<{ readonly kid: string; readonly signsFrom: Date }> {
  return await em.transactional(async (trx) => {
    await lockKeys(trx)
    const keys = await trx.find(SigningKey, {}, { orderBy: { signsFrom: 'desc' } })
    const [latest] = keys
    if (latest !== undefined && latest.signsFrom > now) {
      throw new RotationPendingError(
        `the key ${latest.kid} signs from ${latest.signsFrom.toISOString()}; rotate again after that`,
      )
    }
    const needed = new Set(neededKeys(keys, now))
    for (const key of keys) if (!needed.has(key)) trx.remove(key)
    const signsFrom = new Date(now.getTime() + KEY_OVERLAP)
    return { kid: await addKey(trx, vault, now, signsFrom), signsFrom }
  })
}

/** Returns every key that a receiver may still need. */
export async function publishedKeys(em: EntityManager, now: Date): Promise<PublishedKey[]> {
  const keys = await em.find(SigningKey, {}, { orderBy: { signsFrom: 'desc' }, disableIdentityMap: true })
  return neededKeys(keys, now).map(({ kid, publicJwk: { kty, n, e } }) => ({
    kty,
    n,
    e,
    alg: 'RS256',
    use: 'sig',
    kid,
  }))
}

/** Returns the keys that sign, will sign, or signed until less than the overlap ago. `keys` has the latest first. */
function neededKeys(keys: readonly SigningKey[], now: Date): SigningKey[] {
  return keys.filter((_, index) => {
    const successor = keys[index - 1]
    return successor === undefined || successor.signsFrom.getTime() + KEY_OVERLAP > now.getTime()
  })
}

async function lockKeys(trx: EntityManager): Promise<void> {
  await lockUntilCommit(trx, 'signing-keys')
}

async function addKey(trx: EntityManager, vault: Vault, now: Date, signsFrom: Date): Promise<string> {
  const { publicKey, privateKey } = await generateKeyPair('RS256', {
    modulusLength: 2048,
    extractable: true,
  })
  const { kty, n, e } = await exportJWK(publicKey)
  if (kty === undefined || n === undefined || e === undefined)
    throw new Error('an RSA key has no public members')
  const kid = await calculateJwkThumbprint({ kty, n, e })
  trx.persist(
    trx.create(SigningKey, {
      kid,
      publicJwk: { kty, n, e },
      privateCipher: await vault.seal(JSON.stringify(await exportJWK(privateKey))),
      createdTime: now,
      signsFrom,
    }),
  )
  return kid
}

/** Returns the key that signs at `now`: the latest whose start has passed. */
export async function currentSigningKey(em: EntityManager, vault: Vault, now: Date): Promise<SigningKeyPair> {
  const key = await em.findOneOrFail(
    SigningKey,
    { signsFrom: { $lte: now } },
    { orderBy: { signsFrom: 'desc' }, disableIdentityMap: true },
  )
  const jwk = JSON.parse(await vault.open(key.privateCipher)) as JWK
  const privateKey = await importJWK(jwk, 'RS256')
  if (privateKey instanceof Uint8Array) throw new Error('a signing key is not an RSA key')
  return { kid: key.kid, privateKey }
}
