import type { Transaction } from './entities/index.ts'
import type { NewEvent } from './events.ts'
import { presentTransaction } from './representations/transaction.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/** An event about a transaction, holding it as it stands at this moment. `time` is the clock that decided. */
export function transactionEvent(
  transaction: Transaction,
  type: 'transaction-processed' | 'transaction-declined' | 'transaction-timeout-resolved',
  { baseUrl }: UnitOfWork,
  time: Date,
  websiteId: string | null,
): NewEvent {
  const shown = presentTransaction(transaction, baseUrl)
  return {
    type,
    time,
    websiteId,
    ids: { transactionId: transaction.id },
    embedded: { transaction: shown },
    links: shown._links.map((link) => (link.rel === 'self' ? { ...link, rel: 'transaction' } : link)),
  }
}
