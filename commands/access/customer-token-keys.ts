/**
 * The key ring for customers' JWTs: stored encrypted, separate from the keys for webhooks, never published.
 * The latest key signs; each key verifies until the last token that it can have signed has expired.
 */
import { randomBytes } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/postgresql'
import { LONGEST_CUSTOMER_TOKEN } from '../../access/credential-lifetimes.ts'
import { lockUntilCommit } from '../../db/advisory-locks.ts'
import { CustomerTokenKey } from '../../db/entities/index.ts'
import type { Vault } from '../../db/vault.ts'

export interface CustomerSigningKey {
  readonly kid: string
  readonly secret: Uint8Array
}

/** Returns the signing key; creates the first one, in the caller's transaction if there is one. */
export async function latestCustomerTokenKey(
  em: EntityManager,
  vault: Vault,
  now: Date,
): Promise<CustomerSigningKey> {
  const known = await latest(em)
  if (known !== null) return await opened(known, vault)
  await lockRing(em)
  return await opened((await latest(em)) ?? (await addKey(em, vault, now)), vault)
}

export async function customerTokenKey(
  em: EntityManager,
  vault: Vault,
  kid: string,
): Promise<Uint8Array | null> {
  const key = await em.findOne(CustomerTokenKey, { kid }, { disableIdentityMap: true })
  return key === null ? null : (await opened(key, vault)).secret
}

/** Adds a key that signs from now on, and removes keys whose tokens have all expired. */
export async function rotateCustomerTokenKey(
  em: EntityManager,
  vault: Vault,
  now: Date,
): Promise<{ readonly kid: string }> {
  return await em.transactional(async (trx) => {
    await lockRing(trx)
    const keys = await trx.find(CustomerTokenKey, {}, { orderBy: { createdTime: 'desc' } })
    for (const [index, key] of keys.entries()) {
      // A key signed until the next newer one was created; the newest signed until now.
      const signedUntil = keys[index - 1]?.createdTime ?? now
      if (signedUntil.getTime() + LONGEST_CUSTOMER_TOKEN < now.getTime()) trx.remove(key)
    }
    const { kid } = await addKey(trx, vault, now)
    return { kid }
  })
}

async function latest(em: EntityManager): Promise<CustomerTokenKey | null> {
  const [key = null] = await em.find(
    CustomerTokenKey,
    {},
    { orderBy: { createdTime: 'desc', kid: 'desc' }, limit: 1, disableIdentityMap: true },
  )
  return key
}

async function addKey(em: EntityManager, vault: Vault, now: Date): Promise<CustomerTokenKey> {
  const key = em.create(CustomerTokenKey, {
    kid: randomBytes(12).toString('base64url'),
    keyCipher: await vault.seal(randomBytes(32).toString('base64url')),
    createdTime: now,
  })
  em.persist(key)
  await em.flush()
  return key
}

async function opened({ kid, keyCipher }: CustomerTokenKey, vault: Vault): Promise<CustomerSigningKey> {
  return { kid, secret: Buffer.from(await vault.open(keyCipher), 'base64url') }
}

async function lockRing(em: EntityManager): Promise<void> {
  await lockUntilCommit(em, 'customer-token-keys')
}
