import type { Dispute } from './entities/index.ts'
import { Customer, Transaction } from './entities/index.ts'
import { disputeLinks, presentDispute } from './representations/dispute.ts'
import { presentTransaction } from './representations/transaction.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/**
 * Emits an event about a dispute, holding the dispute and its transaction as they stand at this moment. It belongs to the
 * website of its customer.
 */
export async function emitDisputeEvent(
  unit: UnitOfWork,
  dispute: Dispute,
  type: 'dispute-created' | 'dispute-modified',
  { time = unit.now, cause = 'api' }: { time?: Date; cause?: 'api' | 'deadline' } = {},
): Promise<void> {
  const { organizationId, baseUrl, em } = unit
  const transaction = await em.findOne(Transaction, { organizationId, id: dispute.transactionId })
  const customer =
    dispute.customerId == null ? null : await em.findOne(Customer, { organizationId, id: dispute.customerId })
  unit.emit({
    type,
    time,
    websiteId: customer?.websiteId ?? null,
    ids: { disputeId: dispute.id, transactionId: dispute.transactionId },
    embedded: {
      dispute: presentDispute(dispute, baseUrl),
      transaction: transaction === null ? null : presentTransaction(transaction, baseUrl),
    },
    links: disputeLinks(dispute, baseUrl).map((link) =>
      link.rel === 'self' ? { ...link, rel: 'dispute' } : link,
    ),
    extra: { cause },
  })
}
