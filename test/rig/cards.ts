/** The published test cards, and tokens of them. Nothing here may be found in what a test run leaves behind. */
import type { ApiAnswer, ApiClient } from './api-client.ts'

export const TEST_CARDS = {
  approves: '4111111111111111',
  approvesToo: '5555555555554444',
  declines: '4000000000000002',
  lacksFunds: '4000000000009995',
  answersLate: '4000000000000119',
  declinesRenewals: '4000000000000341',
} as const

/** A security code that no other number of the tests holds. */
export const TEST_CVV = '9173'

/** The body of POST tokens. */
export function tokenBody(pan: string | null = TEST_CARDS.approves, members: object = {}): object {
  return {
    method: 'payment-card',
    paymentInstrument: { ...(pan === null ? {} : { pan }), cvv: TEST_CVV, expMonth: 12, expYear: 2090 },
    ...members,
  }
}

/** A new token; gives its id. */
export async function makeToken(api: ApiClient, pan: string | null = TEST_CARDS.approves): Promise<string> {
  const answer: ApiAnswer = await api.post('tokens', tokenBody(pan))
  if (answer.status !== 201) throw new Error(`POST tokens: ${JSON.stringify(answer.body)}`)
  return String(answer.body.id)
}
