import { Money, sumOf } from './money.ts'

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

/** They ask or warn, and move no money. */
const BEFORE_CHARGEBACK: readonly DisputeType[] = [
  'information-request',
  'inquiry',
  'ethoca-alert',
  'verifi-alert',
]

export interface DisputedAmount {
  readonly status: DisputeStatus
  readonly type: DisputeType
  readonly currency: string
  /** A decimal string. */
  readonly amount: string
  /** Its stages are disputes of their own. */
  readonly caseId: string | null
}

/** Returns what banks took back of a sale for good; stages of one case count once, another currency as the whole sale. */
export function takenBackOf(
  sale: { readonly amount: string; readonly currency: string },
  disputes: readonly DisputedAmount[],
): string {
  const final = disputes.filter(({ status, type }) => {
    return (status === 'lost' || status === 'forfeited') && !BEFORE_CHARGEBACK.includes(type)
  })
  const byCase = Map.groupBy(final, (one) => one.caseId ?? one)
  const most = [...byCase.values()].map((stages) => {
    const amounts = stages.map((one) => (one.currency === sale.currency ? one.amount : sale.amount))
    return Money.max(0, ...amounts).toFixed()
  })
  return Money.min(sumOf(most), sale.amount).toFixed()
}

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
