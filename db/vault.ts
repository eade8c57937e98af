/**
 * Secrets at rest as JWE (RFC 7516), one per record. The first key of the ring encrypts, every key decrypts.
 * An old key stays until nothing is encrypted with it: destroying it destroys what it encrypted, in backups
 * too.
 */
import { createHash } from 'node:crypto'
import { CompactEncrypt, compactDecrypt } from 'jose'

export class VaultError extends Error {
  override readonly name = 'VaultError'
}

export interface Vault {
  /** The same text never gives the same ciphertext twice. */
  seal(plaintext: string): Promise<string>
  /** The prefix of all secrets, and only those, that are encrypted with the first key of the ring. */
  readonly beginning: string
  /** @throws VaultError when the ring does not contain the key, or the ciphertext was modified. */
  open(ciphertext: string): Promise<string>
}

export function createVault(masterKeys: readonly string[]): Vault {
  const ring = new Map<string, Uint8Array>()
  for (const encoded of masterKeys) {
    const key = Buffer.from(encoded, 'base64')
    if (key.length !== 32) throw new VaultError('a master key must have 32 bytes')
    ring.set(createHash('sha256').update(key).digest('hex').slice(0, 16), key)
  }
  const first = ring.entries().next().value
  if (first === undefined) throw new VaultError('the key ring is empty')
  const [kid, key] = first
  const header = { alg: 'dir', enc: 'A256GCM', kid }
  return {
    beginning: `${Buffer.from(JSON.stringify(header)).toString('base64url')}.`,
    seal: (plaintext) =>
      new CompactEncrypt(Buffer.from(plaintext, 'utf8')).setProtectedHeader(header).encrypt(key),
    async open(ciphertext) {
      try {
        const { plaintext } = await compactDecrypt(
          ciphertext,
          ({ kid: wanted }) => {
            const found = ring.get(wanted ?? '')
            if (found === undefined) throw new VaultError('no key of the ring fits this record')
            return found
          },
          { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] },
        )
        return Buffer.from(plaintext).toString('utf8')
      } catch (error) {
        if (error instanceof VaultError) throw error
        throw new VaultError('a record could not be decrypted')
      }
    },
  }
}
