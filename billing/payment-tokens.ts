/** From creation to expiry of an unused token (specification 8). Milliseconds. */
export const TOKEN_LIFETIME = 30 * 60_000

/** Milliseconds for a request to store the card with the gateway, before another request may use the token. */
export const TOKEN_LEASE = 2 * 60_000

export interface TokenState {
  readonly holdsCard: boolean
  readonly expirationTime: number
}

export function eraseAt({ holdsCard, expirationTime }: TokenState): number | null {
  return holdsCard ? expirationTime : null
}
