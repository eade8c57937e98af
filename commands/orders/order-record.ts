/** An order in memory: its rows, its state for the rules, and the changes of this commit. */

import type { RedeemedCoupon } from '../../billing/coupons.ts'
import type { Order } from '../../billing/order.ts'
import type {
  Coupon,
  CreditMemo,
  Invoice,
  Subscription,
  SubscriptionCancellation,
  SubscriptionPause,
} from '../../db/entities/index.ts'
import type { OrderCoupons } from '../coupons/order-coupons.ts'
import { type ChargeTerms, UNCHARGED } from './choose-instrument.ts'

/** An order with the rows that can still change, all protected by the lock of the order's row. */
export interface OrderRecord {
  readonly row: Subscription
  /** True while it is being placed: nothing of the unit reads it from the database. */
  readonly isNew: boolean
  readonly invoices: Map<number, Invoice>
  readonly pauses: Map<string, SubscriptionPause>
  /** The cancellation whose churn time is ahead; null: none. */
  readonly cancellation: SubscriptionCancellation | null
  order: Order
  readonly charging: ChargeTerms
  /** What is redeemed for it, as its terms have it. */
  redeemed: readonly RedeemedCoupon[]
  /** The coupons of its redemptions, those canceled in this commit included, by id. */
  readonly coupons: Map<string, Coupon>
  /** The customer's memos that it can use or release, oldest first; its other orders of a batch have the same ones. */
  readonly creditMemos: Map<string, CreditMemo>
  /** Sequences of invoices with payments that ended undelivered, to be refunded. */
  readonly toRefund: Set<number>
  /** Rows whose revision this commit has incremented. */
  readonly changedRows: Set<object>
}

/** Returns the record of an order that is being placed. */
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
