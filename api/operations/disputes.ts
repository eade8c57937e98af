import {
  advanceDispute,
  createDispute,
  type DisputeValues,
  disputeDeadline,
  updateDispute,
} from '../../commands/disputes/save-dispute.ts'
import { disputeSearch } from '../../db/entities/dispute.ts'
import { Customer, Dispute as DisputeRow, Transaction } from '../../db/entities/index.ts'
import { emitDisputeEvent } from '../../events/dispute-events.ts'
import { presentCustomer } from '../../representations/customer.ts'
import { presentDispute } from '../../representations/dispute.ts'
import { presentTransaction } from '../../representations/transaction.ts'
import { fieldsOf } from '../query/fields.ts'
import { embedding } from '../resources/embedding.ts'
import type { Resource, Writer } from '../resources/resource.ts'
import { Dispute } from '../schemas/dispute.ts'
import { instantOf } from './instants.ts'

export const disputes: Resource<DisputeRow> = {
  name: 'Dispute',
  label: 'dispute',
  path: 'disputes',
  schema: Dispute,
  entity: DisputeRow,
  table: 'disputes',
  search: disputeSearch,
  fields: fieldsOf(Dispute),
  present: (row, { baseUrl }) => presentDispute(row, baseUrl),
  expanders: {
    transaction: embedding(Transaction, (row) => row.transactionId, presentTransaction),
    customer: embedding(Customer, (row) => row.customerId ?? null, presentCustomer),
  },
}

export const disputeWriter: Writer<DisputeRow, Dispute> = {
  // Excludes the instant of the command: a response exactly at the deadline is in time.
  advance: async (unit, row) => void (await advanceDispute(unit, row, unit.now.getTime() - 1)),
  create: (unit, id, body) => createDispute(unit, id, valuesOf(body, null)),
  update: (unit, row, body) => updateDispute(unit, row, valuesOf(body, row)),
  async changed(unit, row) {
    await emitDisputeEvent(unit, row, 'dispute-modified')
    unit.wake('dispute-deadline', row.id, { dueBy: disputeDeadline(row) })
  },
}

function valuesOf(body: Dispute, row: DisputeRow | null): DisputeValues {
  return {
    transactionId: body.transactionId,
    currency: body.currency,
    amount: body.amount,
    acquirerReferenceNumber: body.acquirerReferenceNumber ?? null,
    caseId: body.caseId ?? null,
    reasonCode: body.reasonCode,
    type: body.type,
    status: body.status,
    postedTime: instantOf(body.postedTime, row?.postedTime),
    deadlineTime: instantOf(body.deadlineTime, row?.deadlineTime),
  }
}
