/** Payment tokens: how long they live, and when their card data have to go. Instants in milliseconds. */

/** From creation to the end of a token that nobody used (specification 8). */
export const TOKEN_LIFETIME = 30 * 60_000

export interface TokenState {
  readonly holdsCard: boolean
  readonly expirationTime: number
}

/** When the card data of a token have to be erased; null: there are none any more. */
export function eraseAt({ holdsCard, expirationTime }: TokenState): number | null {
  return holdsCard ? expirationTime : null
}
