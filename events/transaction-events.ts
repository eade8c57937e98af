import type { Transaction } from '../db/entities/index.ts'
import type { NewEvent } from '../db/outbox.ts'
import type { UnitOfWork } from '../db/unit-of-work.ts'
import { presentTransaction } from '../representations/transaction.ts'

/** `time` is on the clock that decided. */
export function transactionEvent(
  transaction: Transaction,
  type:
    | 'transaction-processed'
    | 'transaction-declined'
    | 'transaction-timeout-resolved'
    | 'offsite-payment-completed',
  { baseUrl }: UnitOfWork,
  time: Date,
  websiteId: string | null,
): NewEvent {
  const representation = presentTransaction(transaction, baseUrl)
  return {
    type,
    time,
    websiteId,
    ids: { transactionId: transaction.id },
    embedded: { transaction: representation },
    links: representation._links.map((link) =>
      link.rel === 'self' ? { ...link, rel: 'transaction' } : link,
    ),
  }
}
