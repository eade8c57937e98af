import type { Order } from '../../billing/order.ts'
import type { CreditMemo, Invoice } from '../../db/entities/index.ts'
import type { ChargeTerms } from '../orders/choose-instrument.ts'

/** The invoices of an order, or one of the merchant's own: protected by the lock of the order's row, or of its own. */
export interface InvoicesRecord {
  readonly row: { readonly id: string; readonly customerId: string; readonly websiteId: string }
  readonly invoices: Map<number, Invoice>
  order: Order
  charging: ChargeTerms
  /** By id, oldest first; the customer's other orders in a batch share them. */
  readonly creditMemos: Map<string, CreditMemo>
  /** Sequences of invoices with payments that ended undelivered, to be refunded. */
  readonly toRefund: Set<number>
  /** Rows whose revision this commit has incremented. */
  readonly changedRows: Set<object>
}
