/** Sessions have the shape that Apple Pay returns, but no device can pay with them. */
import { createHash, randomBytes } from 'node:crypto'
import type { Wallet } from './port.ts'

/** How long Apple Pay accepts a session, in milliseconds. */
const LIFETIME = 5 * 60_000

/** @param now real time in milliseconds. */
export function createSandboxWallet(now: () => number): Wallet {
  return {
    async validate({ organizationId, domainName, displayName }) {
      const created = now()
      return {
        sandbox: true,
        epochTimestamp: created,
        expiresAt: created + LIFETIME,
        merchantSessionIdentifier: `SSH${hex(16)}_${hex(32)}`,
        nonce: hex(4).toLowerCase(),
        merchantIdentifier: createHash('sha256').update(organizationId).digest('hex').toUpperCase(),
        domainName,
        displayName,
        signature: hex(64).toLowerCase(),
      }
    },
    close: async () => {},
  }
}

function hex(bytes: number): string {
  return randomBytes(bytes).toString('hex').toUpperCase()
}
