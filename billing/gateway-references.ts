/**
 * References of instruments at gateways. That of a gateway account's instrument is `account/<account>/<the provider's
 * reference>`; any other belongs to the deployment's own gateway.
 */

export interface AccountReference {
  readonly account: string
  readonly reference: string
}

/** Returns the parts of an account's reference; null: it belongs to the deployment's own gateway. */
export function splitReference(reference: string): AccountReference | null {
  const [, account, rest] = /^account\/([^/]+)\/(.*)$/s.exec(reference) ?? []
  return account === undefined || rest === undefined ? null : { account, reference: rest }
}

/** Returns the reference under which an account's instrument is kept. */
export function referenceOf({ account, reference }: AccountReference): string {
  return `account/${account}/${reference}`
}
