import type { ApiClient } from './api-client.ts'
import { TEST_CARDS, TEST_CVV } from './cards.ts'
import { create } from './create.ts'

export function tokenBody(pan: string | null = TEST_CARDS.approves, members: object = {}): object {
  return {
    method: 'payment-card',
    paymentInstrument: { ...(pan === null ? {} : { pan }), cvv: TEST_CVV, expMonth: 12, expYear: 2090 },
    ...members,
  }
}

export async function makeToken(api: ApiClient, pan: string | null = TEST_CARDS.approves): Promise<string> {
  return String((await create(api, 'tokens', tokenBody(pan))).id)
}
