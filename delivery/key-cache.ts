import type { EntityManager } from '@mikro-orm/postgresql'
import type { Vault } from '../db/vault.ts'
import { currentSigningKey, type SigningKeyPair } from './signing-keys.ts'

const FRESH_FOR = 30_000

/** Returns a function that returns the current signing key and reads the database at most twice a minute. */
export function signingKeyCache(
  em: () => EntityManager,
  vault: Vault,
  now: () => number,
): () => Promise<SigningKeyPair> {
  let key: Promise<SigningKeyPair> | null = null
  let readAt = Number.NEGATIVE_INFINITY
  return () => {
    if (key !== null && now() - readAt < FRESH_FOR) return key
    readAt = now()
    const reading = currentSigningKey(em(), vault, new Date(now()))
    reading.catch(() => {
      if (key === reading) key = null
    })
    key = reading
    return reading
  }
}
