/** An account's instrument is `account/<account>/<reference>`; others belong to the deployment's own gateway. */

export interface AccountReference {
  readonly account: string
  readonly reference: string
}

/** Returns null if the reference belongs to the deployment's own gateway. */
export function splitReference(reference: string): AccountReference | null {
  const [, account, rest] = /^account\/([^/]+)\/(.*)$/s.exec(reference) ?? []
  return account === undefined || rest === undefined ? null : { account, reference: rest }
}

export function referenceOf({ account, reference }: AccountReference): string {
  return `account/${account}/${reference}`
}
