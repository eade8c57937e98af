import { changeTime } from '../db/change-row.ts'
import { type Dispute, Transaction } from '../db/entities/index.ts'
import { type DisputeOfTransaction, disputeOf } from '../db/entities/transaction.ts'
import { plainRowReader } from '../db/plain-rows.ts'
import { statement } from '../db/statement.ts'
import type { UnitOfWork } from '../db/unit-of-work.ts'
import { disputeLinks, presentDispute } from '../representations/dispute.ts'
import { presentTransaction } from '../representations/transaction.ts'

/** The website is that of the first invoice it paid, else of its customer. */
export interface DisputedSale {
  readonly transaction: Transaction
  readonly websiteId: string | null
}

interface DisputeEventOptions {
  readonly time?: Date
  readonly cause?: 'api' | 'deadline' | 'payment'
  readonly sale?: DisputedSale
}

export async function emitDisputeEvent(
  unit: UnitOfWork,
  dispute: Dispute,
  type: 'dispute-created' | 'dispute-modified',
  { time = changeTime(dispute, unit), cause = 'api', sale }: DisputeEventOptions = {},
): Promise<void> {
  const { baseUrl } = unit
  const about = sale ?? (await readDisputedSale(unit, dispute.transactionId))
  unit.emit({
    type,
    time,
    websiteId: about?.websiteId ?? null,
    ids: { disputeId: dispute.id, transactionId: dispute.transactionId },
    embedded: {
      dispute: presentDispute(dispute, baseUrl),
      transaction:
        about === null
          ? null
          : presentTransaction(
              { ...about.transaction, dispute: await readDisputeOf(unit, dispute, type) },
              baseUrl,
            ),
    },
    links: disputeLinks(dispute, baseUrl).map((link) =>
      link.rel === 'self' ? { ...link, rel: 'dispute' } : link,
    ),
    extra: { cause },
  })
}

async function readDisputeOf(
  { em, organizationId }: UnitOfWork,
  { transactionId, postedTime, status }: Dispute,
  type: 'dispute-created' | 'dispute-modified',
): Promise<DisputeOfTransaction | null> {
  // A new one is the latest.
  if (type === 'dispute-created' && status !== 'won') {
    return { time: postedTime.toISOString(), status, isOpen: true }
  }
  await em.flush()
  const [row] = await statement<{ dispute: DisputeOfTransaction | null }>(
    em,
    'read-dispute-of-transaction',
    `select ${disputeOf('given.organization_id', 'given.id')} as dispute
       from (values (?::text, ?::text)) as given (organization_id, id)`,
    [organizationId, transactionId],
  )
  return row?.dispute ?? null
}

/** Reads without a lock: transactions are never deleted, and orders have to be locked before them. */
async function readDisputedSale(
  { em, organizationId }: UnitOfWork,
  id: string,
): Promise<DisputedSale | null> {
  const [row] = await statement<FoundSale>(
    em,
    'read-disputed-transaction',
    `select row.*, ${ABOUT_WEBSITE}
       ${SALE_OF}
      where row.organization_id = ? and row.id = ?`,
    [organizationId, id],
  )
  return row === undefined ? null : saleOf(em, row)
}

/**
 * Also holds the transaction's customer until the unit ends, so that no merge leaves a dispute behind. Orders and own invoices
 * are locked before.
 */
export async function holdDisputedSale(unit: UnitOfWork, id: string): Promise<DisputedSale | null> {
  const { em, organizationId } = unit
  for (let gone: unknown = null; ; ) {
    const [row] = await statement<FoundSale & { held: string | null }>(
      em,
      'hold-disputed-transaction',
      `select row.*, ${ABOUT_WEBSITE},
              (select customer.id from customers customer where customer.organization_id = row.organization_id
                  and customer.id = row.customer_id for key share) as held
         ${SALE_OF}
        where row.organization_id = ? and row.id = ?`,
      [organizationId, id],
    )
    if (row === undefined) return null
    if (row.held !== null || row.customer_id === gone) return saleOf(em, row)
    // While this statement waited, its customer was merged into another, which may be merged in its turn.
    gone = row.customer_id
  }
}

type FoundSale = Record<string, unknown> & { about_website: string | null }

const ABOUT_WEBSITE = 'coalesce(invoice.website_id, customer.website_id) as about_website'
const SALE_OF = `from transactions row
       left join transactions sale
         on sale.organization_id = row.organization_id and sale.id = coalesce(row.parent_transaction_id, row.id)
       left join invoices invoice
         on invoice.organization_id = sale.organization_id and invoice.id = sale.invoice_ids ->> 0
       left join customers customer
         on customer.organization_id = row.organization_id and customer.id = row.customer_id`

function saleOf(em: UnitOfWork['em'], row: FoundSale): DisputedSale {
  return { transaction: plainRowReader(em, Transaction)(row), websiteId: row.about_website }
}
