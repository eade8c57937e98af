import { jsonAmount } from '../billing/money.ts'
import type { Dispute } from '../db/entities/index.ts'
import { type Link, resourceUrl } from './links.ts'

export function disputeLinks(dispute: Dispute, baseUrl: string): Link[] {
  const url = (...segments: string[]) => resourceUrl(baseUrl, dispute.organizationId, ...segments)
  return [
    { rel: 'self', href: url('disputes', dispute.id) },
    { rel: 'transaction', href: url('transactions', dispute.transactionId) },
    ...(dispute.customerId == null ? [] : [{ rel: 'customer', href: url('customers', dispute.customerId) }]),
  ]
}

export function presentDispute(dispute: Dispute, baseUrl: string) {
  return {
    id: dispute.id,
    customerId: dispute.customerId ?? null,
    transactionId: dispute.transactionId,
    currency: dispute.currency,
    amount: jsonAmount(dispute.amount),
    acquirerReferenceNumber: dispute.acquirerReferenceNumber ?? null,
    caseId: dispute.caseId ?? null,
    reasonCode: dispute.reasonCode,
    reasonDescription: dispute.reasonDescription ?? null,
    category: dispute.category,
    type: dispute.type,
    status: dispute.status,
    postedTime: dispute.postedTime.toISOString(),
    deadlineTime: dispute.deadlineTime?.toISOString() ?? null,
    rawResponse: dispute.rawResponse ?? null,
    resolvedTime: dispute.resolvedTime?.toISOString() ?? null,
    source: dispute.source ?? null,
    revision: dispute.revision,
    createdTime: dispute.createdTime.toISOString(),
    updatedTime: dispute.updatedTime.toISOString(),
    _links: disputeLinks(dispute, baseUrl),
  }
}
