/** Keys that sign webhooks: made once, kept encrypted, published as a JWK set. */
import type { EntityManager } from '@mikro-orm/postgresql'
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
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

/** Makes the first key of an installation if there is none; processes that start together agree on one. */
export async function ensureSigningKey(em: EntityManager, vault: Vault, now: Date): Promise<void> {
  await em.transactional(async (trx) => {
    await trx
      .getConnection()
      .execute('select pg_advisory_xact_lock(7310, 2)', [], 'run', trx.getTransactionContext())
    if ((await trx.count(SigningKey)) > 0) return
    const { publicKey, privateKey } = await generateKeyPair('RS256', {
      modulusLength: 2048,
      extractable: true,
    })
    const { kty, n, e } = await exportJWK(publicKey)
    if (kty === undefined || n === undefined || e === undefined)
      throw new Error('an RSA key lacks its public members')
    trx.persist(
      trx.create(SigningKey, {
        kid: await calculateJwkThumbprint({ kty, n, e }),
        publicJwk: { kty, n, e },
        privateCipher: await vault.seal(JSON.stringify(await exportJWK(privateKey))),
        createdTime: now,
        signsFrom: now,
      }),
    )
  })
}

/** Every key a receiver may still meet. */
export async function publishedKeys(em: EntityManager): Promise<PublishedKey[]> {
  const keys = await em.find(SigningKey, {}, { orderBy: { createdTime: 'desc' }, disableIdentityMap: true })
  return keys.map(({ kid, publicJwk: { kty, n, e } }) => ({ kty, n, e, alg: 'RS256', use: 'sig', kid }))
}

/** The key that signs at `now`: of those whose time has come, the latest. */
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
