export interface MerchantValidation {
  readonly organizationId: string
  /** One of `SESSION_HOSTS`. */
  readonly host: string
  readonly domainName: string
  readonly displayName: string
}

/** Opaque and for a single payment: the browser passes it to the wallet's SDK as it is. */
export type MerchantSession = Readonly<Record<string, unknown>>

export interface Wallet {
  /** @throws WalletFailedError if the wallet returned no session. */
  validate(validation: MerchantValidation): Promise<MerchantSession>
  close(): Promise<void>
}

/** The deployment has no merchant identity. The message is public. */
export class NoWalletError extends Error {
  override readonly name = 'NoWalletError'
}

/** The message is public and contains nothing of the wallet's response. */
export class WalletFailedError extends Error {
  override readonly name = 'WalletFailedError'
}
