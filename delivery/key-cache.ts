import type { EntityManager } from '@mikro-orm/postgresql'
import type { Vault } from '../db/vault.ts'
import { currentSigningKey, type SigningKeyPair } from './signing-keys.ts'

const FRESH_FOR = 30_000
/** While the database cannot be asked. Much less than the ten minutes that `KEY_OVERLAP` has for all delays. */
const USABLE_FOR = 120_000

/**
 * Returns a function that returns the current signing key and reads the database at most twice a minute. If that fails,
 * it returns the key that it has for a while: a delivery whose attempt cannot be made waits for its lease to expire.
 */
export function signingKeyCache(
  em: () => EntityManager,
  vault: Vault,
  now: () => number,
): () => Promise<SigningKeyPair> {
  let last: { readonly key: SigningKeyPair; readonly readAt: number } | null = null
  let reading: Promise<SigningKeyPair> | null = null
  const read = async (): Promise<SigningKeyPair> => {
    const readAt = now()
    try {
      const key = await currentSigningKey(em(), vault, new Date(readAt))
      last = { key, readAt }
      return key
    } finally {
      reading = null
    }
  }
  return async () => {
    if (last !== null && now() - last.readAt < FRESH_FOR) return last.key
    try {
      reading ??= read()
      return await reading
    } catch (error) {
      if (last !== null && now() - last.readAt < USABLE_FOR) return last.key
      throw error
    }
  }
}
