import type { RequestCards } from '../../commands/payments/request-cards.ts'
import type { CardRefusal, StoredCard } from '../../gateways/port.ts'

/** Returns the reference of a stored card. @throws Error if the gateway refused it. */
export function referenceIn(stored: StoredCard | CardRefusal): string {
  if ('refusal' in stored) throw new Error(stored.refusal)
  return stored.reference
}

export const NO_CARDS: RequestCards = {
  use: () => Promise.reject(new Error('a payment token was consumed')),
  adopt() {
    throw new Error('a card was taken over')
  },
  renew() {
    throw new Error('an expiry was told')
  },
  run: (command) => command(),
}
