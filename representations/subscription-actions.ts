import { jsonAmount } from '../billing/money.ts'
import { subtotal } from '../billing/proration.ts'
import type {
  SubscriptionCancellation,
  SubscriptionPause,
  SubscriptionReactivation,
} from '../db/entities/index.ts'
import { resourceUrl } from './links.ts'
import { presentQueuedLine } from './queued-line.ts'

export function presentCancellation(row: SubscriptionCancellation, baseUrl: string) {
  return {
    id: row.id,
    subscriptionId: row.subscriptionId,
    status: row.status,
    canceledTime: row.canceledTime?.toISOString() ?? null,
    churnTime: row.churnTime?.toISOString() ?? null,
    churnTimePolicy: row.churnTimePolicy ?? null,
    canceledBy: row.canceledBy,
    reason: row.reason ?? null,
    description: row.description ?? null,
    prorated: row.prorated,
    lineItems: row.creditLines.map((line) => presentQueuedLine(line, row.currency ?? '')),
    lineItemSubtotal:
      row.currency == null ? null : { currency: row.currency, amount: jsonAmount(subtotal(row.creditLines)) },
    proratedInvoiceId: row.proratedInvoiceId ?? null,
    ...resource(row, 'subscription-cancellations', baseUrl),
  }
}

export function presentPause(row: SubscriptionPause, baseUrl: string) {
  return {
    id: row.id,
    subscriptionId: row.subscriptionId,
    status: row.status,
    pausedBy: row.pausedBy,
    effectiveTime: row.effectiveTime.toISOString(),
    endTime: row.endTime?.toISOString() ?? null,
    timeRemaining: presentTimeRemaining(row),
    description: row.description ?? null,
    ...resource(row, 'subscription-pauses', baseUrl),
  }
}

/** In whole seconds. */
export function presentTimeRemaining({ timeRemaining }: SubscriptionPause): string | null {
  return timeRemaining == null ? null : `PT${Math.floor(timeRemaining / 1000)}S`
}

export function presentReactivation(row: SubscriptionReactivation, baseUrl: string) {
  return {
    id: row.id,
    subscriptionId: row.subscriptionId,
    cancellationId: row.cancellationId ?? null,
    effectiveTime: row.effectiveTime.toISOString(),
    renewalTime: row.renewalTime?.toISOString() ?? null,
    paymentInstrumentId: row.paymentInstrumentId ?? null,
    description: row.description ?? null,
    ...resource(row, 'subscription-reactivations', baseUrl),
  }
}

function resource(
  row: SubscriptionCancellation | SubscriptionPause | SubscriptionReactivation,
  path: string,
  baseUrl: string,
) {
  const url = (...segments: string[]) => resourceUrl(baseUrl, row.organizationId, ...segments)
  return {
    revision: row.revision,
    createdTime: row.createdTime.toISOString(),
    updatedTime: row.updatedTime.toISOString(),
    _links: [
      { rel: 'self', href: url(path, row.id) },
      { rel: 'subscription', href: url('subscriptions', row.subscriptionId) },
    ],
  }
}
