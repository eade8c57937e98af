import { defineEntity, p } from '@mikro-orm/core'
import type { DisputeCategory } from '../../billing/dispute-categories.ts'
import type { DisputeStatus, DisputeType } from '../../billing/disputes.ts'
import {
  choiceIndex,
  filterIndex,
  id,
  instant,
  listIndexes,
  quarantineColumns,
  quarantineIndex,
  resourceColumns,
  searchExpression,
  tenantKey,
} from './columns.ts'

export const disputeSearch = searchExpression(
  'customer_id',
  'transaction_id',
  'currency',
  'acquirer_reference_number',
  'case_id',
  'reason_code',
  'category',
  'type',
  'status',
)

const DisputeSchema = defineEntity({
  name: 'Dispute',
  tableName: 'disputes',
  indexes: [
    quarantineIndex('disputes'),
    ...listIndexes('disputes', disputeSearch),
    { name: 'disputes_transaction_index', properties: ['organizationId', 'transactionId'] },
    choiceIndex('disputes', 'status'),
    choiceIndex('disputes', 'category'),
    choiceIndex('disputes', 'type'),
    filterIndex('disputes', 'customer_id'),
    filterIndex('disputes', 'transaction_id'),
    filterIndex('disputes', 'reason_code'),
    filterIndex('disputes', 'case_id', ' where "case_id" is not null'),
    filterIndex('disputes', 'acquirer_reference_number', ' where "acquirer_reference_number" is not null'),
    { name: 'disputes_amount_index', properties: ['organizationId', 'amount'] },
    { name: 'disputes_posted_index', properties: ['organizationId', 'postedTime'] },
    {
      name: 'disputes_by_deadline_index',
      expression:
        'create index "disputes_by_deadline_index" on "disputes" ("organization_id", "deadline_time") where "deadline_time" is not null',
    },
    {
      name: 'disputes_deadline_index',
      expression:
        'create index "disputes_deadline_index" on "disputes" ("deadline_time") where "status" = \'response-needed\' and "deadline_time" is not null',
    },
  ],
  properties: {
    ...tenantKey,
    customerId: id().nullable(),
    transactionId: id(),
    currency: p.string().length(3),
    /** A decimal string. */
    amount: p.decimal().precision(18).scale(6).$type<string>(),
    acquirerReferenceNumber: p.string().nullable(),
    caseId: p.string().nullable(),
    reasonCode: p.string(),
    reasonDescription: p.string().length(512).nullable(),
    category: p.string().length(20).$type<DisputeCategory>(),
    type: p.string().length(30).$type<DisputeType>(),
    status: p.string().length(20).$type<DisputeStatus>(),
    postedTime: instant(),
    deadlineTime: instant().nullable(),
    rawResponse: p.text().nullable(),
    resolvedTime: instant().nullable(),
    source: p.string().length(20).nullable(),
    ...quarantineColumns,
    ...resourceColumns,
  },
})

export class Dispute extends DisputeSchema.class {}
DisputeSchema.setClass(Dispute)
