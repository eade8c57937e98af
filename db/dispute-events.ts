import type { Dispute } from './entities/index.ts'
import { Transaction } from './entities/index.ts'
import { disputeLinks, presentDispute } from './representations/dispute.ts'
import { presentTransaction } from './representations/transaction.ts'
import { statement } from './statement.ts'
import type { UnitOfWork } from './unit-of-work.ts'

interface DisputeHappening {
  /** Default: the unit's. */
  readonly time?: Date
  readonly cause?: 'api' | 'deadline'
  /** The dispute's transaction as it stands, where it was read already. */
  readonly transaction?: Transaction | undefined
}

/**
 * Emits an event about a dispute, holding the dispute and its transaction as they stand at this moment. It belongs to the
 * website of its customer.
 */
export async function emitDisputeEvent(
  unit: UnitOfWork,
  dispute: Dispute,
  type: 'dispute-created' | 'dispute-modified',
  { time = unit.now, cause = 'api', transaction }: DisputeHappening = {},
): Promise<void> {
  const { organizationId, baseUrl, em } = unit
  const sale = transaction ?? (await em.findOne(Transaction, { organizationId, id: dispute.transactionId }))
  const [customer] = await statement<{ website_id: string | null }>(
    em,
    'select website_id from customers where organization_id = ? and id = ?',
    [organizationId, dispute.customerId ?? null],
  )
  unit.emit({
    type,
    time,
    websiteId: customer?.website_id ?? null,
    ids: { disputeId: dispute.id, transactionId: dispute.transactionId },
    embedded: {
      dispute: presentDispute(dispute, baseUrl),
      transaction: sale === null ? null : presentTransaction(sale, baseUrl),
    },
    links: disputeLinks(dispute, baseUrl).map((link) =>
      link.rel === 'self' ? { ...link, rel: 'dispute' } : link,
    ),
    extra: { cause },
  })
}
