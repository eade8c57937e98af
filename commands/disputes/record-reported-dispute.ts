import { jsonAmount } from '../../billing/money.ts'
import { changeRow } from '../../db/change-row.ts'
import { Dispute } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { emitDisputeEvent } from '../../events/dispute-events.ts'
import type { DisputeNotification } from '../../gateways/notifications.ts'
import { createDispute, type DisputeValues, disputeDeadline, updateDispute } from './save-dispute.ts'

/** Creates or changes the dispute under the gateway's id of it (specification 2.5). */
export async function recordReportedDispute(
  unit: UnitOfWork,
  transactionId: string,
  reported: DisputeNotification,
): Promise<void> {
  const dispute = await lockRow(unit, Dispute, reported.disputeId)
  const values: DisputeValues = {
    transactionId,
    currency: reported.currency,
    amount: jsonAmount(reported.amount),
    acquirerReferenceNumber: dispute?.acquirerReferenceNumber ?? null,
    caseId: dispute?.caseId ?? reported.disputeId,
    reasonCode: reported.reasonCode,
    type: reported.type,
    status: reported.status,
    postedTime: new Date(reported.postedTime),
    deadlineTime: reported.deadlineTime === null ? null : new Date(reported.deadlineTime),
  }
  const report = { rawResponse: reported.raw }
  if (dispute === null) {
    await createDispute(unit, reported.disputeId, values, report)
    return
  }
  const isChanged = await changeRow(unit, dispute, () => updateDispute(unit, dispute, values, report))
  if (!isChanged) return
  await emitDisputeEvent(unit, dispute, 'dispute-modified', { cause: 'payment' })
  unit.wake('dispute-deadline', dispute.id, { dueBy: disputeDeadline(dispute) })
}
