export const DISPUTE_STATUSES = [
  'response-needed',
  'under-review',
  'forfeited',
  'won',
  'lost',
  'unknown',
] as const
export type DisputeStatus = (typeof DISPUTE_STATUSES)[number]

export const DISPUTE_TYPES = [
  'information-request',
  'first-chargeback',
  'second-chargeback',
  'arbitration',
  'fraud',
  'bank-return',
  'ethoca-alert',
  'verifi-alert',
  'representment',
  'inquiry',
  'forced-refund',
  'collaboration',
  'paypal-claim',
] as const
export type DisputeType = (typeof DISPUTE_TYPES)[number]

/** Returns when the dispute was won, lost or forfeited: the first such time is kept, any other status clears it. */
export function resolutionTime(status: DisputeStatus, before: Date | null, now: Date): Date | null {
  const isResolved = status === 'won' || status === 'lost' || status === 'forfeited'
  return isResolved ? (before ?? now) : null
}

export interface DisputeState {
  readonly status: DisputeStatus
  readonly deadlineTime: number | null
}

/** Returns when an unanswered dispute is lost; null: it is not going to be. */
export function disputeLostAt({ status, deadlineTime }: DisputeState): number | null {
  return status === 'response-needed' && deadlineTime !== null ? deadlineTime : null
}
