import type { RedeemedCoupon } from '../../billing/coupons.ts'
import type { Order } from '../../billing/order.ts'
import type {
  Coupon,
  Subscription,
  SubscriptionCancellation,
  SubscriptionPause,
} from '../../db/entities/index.ts'
import type { OrderCoupons } from '../coupons/order-coupons.ts'
import type { InvoicesRecord } from '../invoices/invoices-record.ts'
import { UNCHARGED } from './choose-instrument.ts'

/** An order with the rows that can still change, all protected by the lock of the order's row. */
export interface OrderRecord extends InvoicesRecord {
  readonly row: Subscription
  /** True while it is being placed: nothing of the unit reads it from the database. */
  readonly isNew: boolean
  readonly pauses: Map<string, SubscriptionPause>
  /** The cancellation whose churn time is ahead; null: none. */
  readonly cancellation: SubscriptionCancellation | null
  redeemed: readonly RedeemedCoupon[]
  /** The id of the next invoice, where it is known before; left out: a new one. */
  upcomingId?: string
  /** By id; those canceled in this commit included. */
  readonly coupons: Map<string, Coupon>
}

export function newRecord(row: Subscription, order: Order, { redeemed, coupons }: OrderCoupons): OrderRecord {
  return {
    row,
    invoices: new Map(),
    pauses: new Map(),
    cancellation: null,
    order,
    charging: UNCHARGED,
    redeemed,
    coupons: new Map(coupons.map((coupon) => [coupon.id, coupon])),
    isNew: true,
    creditMemos: new Map(),
    toRefund: new Set(),
    changedRows: new Set([row]),
  }
}

export function draftIds({ invoices }: OrderRecord): string[] {
  return [...invoices.values()].filter(({ status }) => status === 'draft').map(({ id }) => id)
}
