import { hasStalled, STALLED_DETAIL } from '../billing/fast-forward.ts'
import type { FastForward } from '../db/entities/index.ts'
import { fastForwardUrl, resourceUrl } from './links.ts'

/** A stalled fast-forward is shown as failed. `now` is real time. */
export function presentFastForward(row: FastForward, baseUrl: string, now: Date) {
  const { organizationId, subscriptionId } = row
  const stalled = hasStalled(row, now)
  return {
    id: row.id,
    subscriptionId,
    to: row.toTime.toISOString(),
    status: stalled ? ('failed' as const) : row.status,
    detail: stalled ? STALLED_DETAIL : (row.detail ?? null),
    revision: row.revision,
    createdTime: row.createdTime.toISOString(),
    updatedTime: row.updatedTime.toISOString(),
    _links: [
      { rel: 'self', href: fastForwardUrl(row, baseUrl) },
      { rel: 'subscription', href: resourceUrl(baseUrl, organizationId, 'subscriptions', subscriptionId) },
    ],
  }
}
