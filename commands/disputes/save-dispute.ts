import { disputeCategory } from '../../billing/dispute-categories.ts'
import { disputeReason } from '../../billing/dispute-reasons.ts'
import {
  type DisputeStatus,
  type DisputeType,
  disputeLostAt,
  resolutionTime,
} from '../../billing/disputes.ts'
import { InvalidFieldsError } from '../../billing/errors.ts'
import { amountOf, amountProblem } from '../../billing/money.ts'
import { raiseRevision } from '../../db/change-row.ts'
import { Dispute, type Subscription, Transaction } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { emitDisputeEvent, holdDisputedSale } from '../../events/dispute-events.ts'
import { disputeEntry } from '../../events/timeline.ts'
import { orderInstant } from '../orders/order-instant.ts'
import {
  advanceLocked,
  disputeInvoices,
  type LockedInvoice,
  type LockedOwners,
  lockOwners,
  withApplied,
} from '../payments/apply-payment.ts'
import { recountDisputed } from '../payments/refund-sales.ts'
import { references } from '../references.ts'

export interface DisputeValues {
  readonly transactionId: string
  readonly currency: string
  readonly amount: number
  readonly acquirerReferenceNumber: string | null
  readonly caseId: string | null
  readonly reasonCode: string
  readonly type: DisputeType
  readonly status: DisputeStatus
  readonly postedTime: Date
  readonly deadlineTime: Date | null
}

/** Emits `dispute-created` (specification 2.5). A `report` comes from the gateway. Throws InvalidFieldsError. */
export async function createDispute(
  unit: UnitOfWork,
  id: string,
  values: DisputeValues,
  report: DisputeReport | null = null,
): Promise<Dispute> {
  const owners = await lockOwnersOf(unit, [values.transactionId])
  const { derived, transaction, websiteId } = await deriveDispute(unit, values)
  const dispute = unit.create(Dispute, {
    id,
    ...derived,
    resolvedTime: resolutionTime(values.status, null, unit.now),
    ...originOf(report),
  })
  await markDisputed(unit, [transaction.id], owners)
  const cause = causeOf(report)
  await emitDisputeEvent(unit, dispute, 'dispute-created', { cause, sale: { transaction, websiteId } })
  unit.addTimelineEntry(disputeEntry(dispute, true, unit.now, cause))
  const dueBy = disputeDeadline(dispute)
  if (dueBy !== null) {
    unit.startWorkflow('dispute-deadline', id, {
      dueBy,
      attributes: { status: dispute.status, customerId: dispute.customerId ?? null },
    })
  }
  return dispute
}

/** Changes a locked dispute; any status may follow any other. */
export async function updateDispute(
  unit: UnitOfWork,
  dispute: Dispute,
  values: DisputeValues,
  report: DisputeReport | null = null,
): Promise<void> {
  const { transactionId: before, status } = dispute
  const saleIds = [...new Set([values.transactionId, before])]
  const owners = await lockOwnersOf(unit, saleIds)
  const { derived } = await deriveDispute(unit, values)
  const resolvedTime = resolutionTime(values.status, dispute.resolvedTime ?? null, unit.now)
  Object.assign(dispute, { ...derived, resolvedTime, ...(report === null ? {} : originOf(report)) })
  if (values.status !== status) {
    unit.addTimelineEntry(disputeEntry(dispute, false, unit.now, causeOf(report)))
  }
  await markDisputed(unit, saleIds, owners)
}

export interface DisputeReport {
  readonly rawResponse: string
}

function originOf(report: DisputeReport | null): Pick<Dispute, 'source' | 'rawResponse'> {
  return { source: report === null ? 'api' : 'webhook', rawResponse: report?.rawResponse ?? null }
}

function causeOf(report: DisputeReport | null): 'api' | 'payment' {
  return report === null ? 'api' : 'payment'
}

/** Locks what sales paid, or were to pay: it comes before the customer that `deriveDispute` holds (docs/adr/0035). */
async function lockOwnersOf(unit: UnitOfWork, saleIds: readonly string[]): Promise<LockedOwners> {
  const { em, organizationId } = unit
  const ids = { organizationId, id: { $in: [...saleIds] } }
  const sales = await em.find(Transaction, ids, { fields: ['id', 'invoiceIds'] })
  return await lockOwners(unit, [...new Set(sales.flatMap(({ invoiceIds }) => invoiceIds))])
}

/**
 * Locks the sales after what they paid: a concurrent result of a sale, or its application to another invoice, finds the
 * dispute or is found by it. What the sales owe is counted anew.
 */
async function markDisputed(
  unit: UnitOfWork,
  saleIds: readonly string[],
  owners: LockedOwners,
): Promise<void> {
  const { em, organizationId } = unit
  const instantOf = (row: Subscription) => orderInstant(unit, row)
  let lockedInvoices: readonly LockedInvoice[] = await advanceLocked(unit, owners, instantOf)
  const locked: Transaction[] = []
  for (const id of saleIds.toSorted()) {
    const sale = await lockRow(unit, Transaction, id)
    if (sale !== null) locked.push(sale)
  }
  for (const sale of locked) lockedInvoices = await withApplied(unit, sale, lockedInvoices, instantOf)
  await em.flush()
  for (const sale of locked) await recountDisputed(unit, sale)
  const paidInvoiceIds = lockedInvoices.map(({ id }) => id)
  if (paidInvoiceIds.length === 0) return
  const disputed = await statement<{ id: string }>(
    em,
    'find-disputed-invoices',
    `select invoice.id from invoices invoice
      where organization_id = ? and invoice.id in (select jsonb_array_elements_text(?::jsonb))
        and exists (select from transactions sale
              join disputes dispute on dispute.organization_id = sale.organization_id
               and dispute.transaction_id = sale.id and dispute.status <> 'won'
             where sale.organization_id = invoice.organization_id and sale.customer_id = invoice.customer_id
               and sale.payments ->> invoice.id is not null)`,
    [organizationId, JSON.stringify(paidInvoiceIds)],
  )
  await disputeInvoices(unit, lockedInvoices, (invoiceId) => disputed.some(({ id }) => id === invoiceId))
}

export async function lockDispute(unit: UnitOfWork, id: string): Promise<Dispute | null> {
  return await lockRow(unit, Dispute, id)
}

/** Returns when an unanswered dispute is lost; null: never in its current status. */
export function disputeDeadline({ status, deadlineTime }: Dispute): Date | null {
  const lostAt = disputeLostAt({ status, deadlineTime: deadlineTime?.getTime() ?? null })
  return lostAt === null ? null : new Date(lostAt)
}

/** An unanswered dispute is lost after its deadline. Returns the next deadline in milliseconds; null: none. */
export async function advanceDispute(
  unit: UnitOfWork,
  dispute: Dispute,
  instant: number,
): Promise<number | null> {
  const deadline = disputeDeadline(dispute)
  if (deadline === null || deadline.getTime() > instant) return deadline?.getTime() ?? null
  // A deadline may have passed when it was set.
  const lostAfter = (time: Date) => new Date(Math.max(deadline.getTime(), time.getTime()))
  const time = lostAfter(dispute.updatedTime)
  dispute.status = 'lost'
  dispute.resolvedTime = resolutionTime('lost', null, lostAfter(dispute.createdTime))
  raiseRevision(dispute, unit)
  const saleIds = [dispute.transactionId]
  await markDisputed(unit, saleIds, await lockOwnersOf(unit, saleIds))
  await emitDisputeEvent(unit, dispute, 'dispute-modified', { time, cause: 'deadline' })
  unit.addTimelineEntry(disputeEntry(dispute, false, time, 'deadline'))
  return null
}

async function deriveDispute(unit: UnitOfWork, values: DisputeValues) {
  const found = references(unit)
  const sale = await holdDisputedSale(unit, values.transactionId)
  if (sale === null) found.missing(Transaction, 'transactionId')
  const problem = amountProblem(amountOf(values.amount), values.currency)
  if (problem !== null) found.fail('amount', problem.code, problem.message)
  found.check()
  if (sale === null) throw new InvalidFieldsError([])
  return {
    ...sale,
    derived: {
      ...values,
      amount: amountOf(values.amount),
      customerId: sale.transaction.customerId,
      category: disputeCategory(values.type, values.reasonCode),
      // A bank's codes are not those of the networks.
      reasonDescription: values.type === 'bank-return' ? null : disputeReason(values.reasonCode),
    },
  }
}
