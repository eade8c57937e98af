import type { EntityManager } from '@mikro-orm/postgresql'
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import { lockUntilCommit } from '../db/advisory-locks.ts'
import { databaseTime } from '../db/clock-agreement.ts'
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
 * Milliseconds that a key is published before it first signs and after it last signed. Receivers cache the set for
 * an hour (specification 6.2); the rest allows for clocks, our own cache and a signature's five minutes.
 */
export const KEY_OVERLAP = 70 * 60_000

export class RotationPendingError extends Error {
  override readonly name = 'RotationPendingError'
}

/** Creates the first key of an installation if there is none. Processes that start together agree on one. */
export async function ensureSigningKey(em: EntityManager, vault: Vault): Promise<void> {
  await em.transactional(async (trx) => {
    await lockKeys(trx)
    if ((await trx.count(SigningKey)) > 0) return
    const now = new Date(await databaseTime(trx))
    await addKey(trx, vault, now, now)
  })
}

/** The key signs after `KEY_OVERLAP`. @throws RotationPendingError while an earlier one does not sign yet. */
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

/** Returns the keys that sign, will sign, or are still needed. `keys` has the latest first. */
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
