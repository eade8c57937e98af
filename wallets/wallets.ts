import type { Environment } from '../config/config.ts'
import type { MerchantIdentity } from '../config/merchant-identity.ts'
import type { AddressGuard } from '../delivery/address-guard.ts'
import { type ApplePayConnection, createApplePay } from './apple-pay.ts'
import { NoWalletError, type Wallet } from './port.ts'
import { createSandboxWallet } from './sandbox-wallet.ts'

export interface WalletOptions {
  readonly environment: Environment
  /** null: not configured; the sandbox needs none. */
  readonly identity: MerchantIdentity | null
  readonly guard: AddressGuard
  readonly now: () => number
  readonly connection?: ApplePayConnection | undefined
}

export function createWallet({ environment, identity, guard, now, connection }: WalletOptions): Wallet {
  if (environment === 'sandbox') return createSandboxWallet(now)
  return identity === null ? noWallet() : createApplePay(identity, guard, connection)
}

function noWallet(): Wallet {
  return {
    async validate() {
      throw new NoWalletError(
        'This deployment has no merchant identity for Apple Pay. Its operator sets APPLE_PAY_MERCHANT_ID, ' +
          'APPLE_PAY_CERT_FILE and APPLE_PAY_KEY_FILE.',
      )
    },
    close: async () => {},
  }
}
