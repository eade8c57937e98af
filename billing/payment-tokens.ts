/** The lifetime of payment tokens and of their card data. Instants in milliseconds. */

/** From creation to expiry of an unused token (specification 8). */
export const TOKEN_LIFETIME = 30 * 60_000

/** How long a request may take to have the gateway store the card, before another may use the token. */
export const TOKEN_LEASE = 2 * 60_000

export interface TokenState {
  readonly holdsCard: boolean
  readonly expirationTime: number
}

/** Returns when the card data of a token have to be erased; null: it has none. */
export function eraseAt({ holdsCard, expirationTime }: TokenState): number | null {
  return holdsCard ? expirationTime : null
}
