/** An order in hand: its rows, what the rules make of them, and what this commit has changed. */
import type { Order } from '../../billing/order.ts'
import type { Invoice, Subscription, SubscriptionPause } from '../../db/entities/index.ts'
import { type ChargeTerms, UNCHARGED } from './charge-terms.ts'

/** An order with the rows that can still change, all locked by the order's row. */
export interface OrderRecord {
  readonly row: Subscription
  /** It is being placed: nothing of the unit reads it from the database. */
  readonly isNew: boolean
  readonly invoices: Map<number, Invoice>
  readonly pauses: Map<string, SubscriptionPause>
  order: Order
  readonly charging: ChargeTerms
  /** Invoices that ended with nothing delivered for their money, which has to go back; by sequence. */
  readonly toRefund: Set<number>
  /** Rows whose revision this commit has raised. */
  readonly changedRows: Set<object>
}

/** A record of an order that is about to be placed. */
export function newRecord(row: Subscription, order: Order): OrderRecord {
  return {
    row,
    invoices: new Map(),
    pauses: new Map(),
    order,
    charging: UNCHARGED,
    isNew: true,
    toRefund: new Set(),
    changedRows: new Set([row]),
  }
}
