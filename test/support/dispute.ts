import type { ApiClient } from './api-client.ts'
import { create } from './create.ts'

/** Records a sale that was paid elsewhere and returns its id. */
export async function externalSale(api: ApiClient, customerId: string): Promise<string> {
  const { id } = await create(api, 'transactions', {
    type: 'sale',
    customerId,
    currency: 'EUR',
    amount: 50,
    paymentInstruction: { method: 'external' },
  })
  return String(id)
}

export function disputeBody(transactionId: string, members: object = {}): Record<string, unknown> {
  return {
    transactionId,
    currency: 'EUR',
    amount: 12.5,
    reasonCode: '10.4',
    type: 'first-chargeback',
    status: 'under-review',
    postedTime: '2026-01-31T09:00:00.000Z',
    ...members,
  }
}
