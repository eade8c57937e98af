import type { InvoiceStatus } from '../../billing/invoices.ts'
import { isServed } from '../../billing/order.ts'
import {
  Invoice,
  type Subscription,
  SubscriptionCancellation,
  SubscriptionPause,
} from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { NO_COUPONS, readCoupons } from '../coupons/order-coupons.ts'
import { readChargeTerms, UNCHARGED } from './choose-instrument.ts'
import { lockCredit } from './credit.ts'
import type { OrderRecord } from './order-record.ts'
import { orderOf } from './rows-to-order.ts'

export interface Loading {
  /** Receives each order whose rows cannot be read, and skips it; without it the error is thrown. */
  readonly unreadable?: (row: Subscription, error: unknown) => void
  /** Invoices that a payment, refund or dispute concerns. */
  readonly invoiceIds?: readonly string[]
  /** Rows whose revision this commit has raised already. */
  readonly changedRows?: Set<object>
}

export async function loadOrder(
  unit: UnitOfWork,
  row: Subscription,
  instant: number,
  loading: Loading = {},
): Promise<OrderRecord> {
  const [record] = await loadOrders(unit, [row], instant, loading)
  if (record === undefined) throw new Error('an order has one record')
  return record
}

/**
 * Reads what the rules need of locked orders, with the charge terms of `instant` (milliseconds), and locks the credit memos
 * that they may use. Of the invoices: those that are open, initial, being charged, of the current period or a later one,
 * or named by `loading`. Writes nothing. Throws if the rows of an order cannot be read, unless `unreadable` takes it.
 */
export async function loadOrders(
  unit: UnitOfWork,
  rows: readonly Subscription[],
  instant: number,
  { invoiceIds = [], unreadable, changedRows = new Set() }: Loading = {},
): Promise<OrderRecord[]> {
  const { em, organizationId } = unit
  const ofThem = { organizationId, subscriptionId: { $in: rows.map(({ id }) => id) } }
  const isNeeded = (row: Subscription, { id, type, status, charge, periodNumber, sequence }: Invoice) =>
    OPEN.includes(status) ||
    type === 'initial' ||
    charge != null ||
    // One of the current period may be prorated, one of a future period voided.
    (periodNumber ?? 0) >= (row.rebillNumber ?? LAST_PERIOD) ||
    changesOf(row).includes(sequence) ||
    invoiceIds.includes(id)
  // Of each order by itself: one in its first period would need every invoice of the others.
  const ofPeriods = rows.flatMap(({ id: subscriptionId, rebillNumber: number }) =>
    number == null ? [] : [{ subscriptionId, periodNumber: { $gte: number } }],
  )
  const ofChanges = rows.flatMap((row) => {
    const changes = changesOf(row)
    return changes.length === 0 ? [] : [{ subscriptionId: row.id, sequence: { $in: changes } }]
  })
  const invoices = await em.find(
    Invoice,
    {
      ...ofThem,
      $or: [
        { status: { $in: [...OPEN] } },
        { type: 'initial' },
        { charge: { $ne: null } },
        { id: { $in: [...invoiceIds] } },
        ...ofPeriods,
        ...ofChanges,
      ],
    },
    { orderBy: { sequence: 'asc' }, refresh: true },
  )
  const pauses = await em.find(
    SubscriptionPause,
    { ...ofThem, status: { $in: ['pending', 'ongoing'] } },
    { orderBy: { id: 'asc' }, refresh: true },
  )
  const cancellations = await readCancellations(unit, rows)
  const charging = await readChargeTerms(unit, rows, instant)
  const invoicesOf = Map.groupBy(invoices, ({ subscriptionId }) => subscriptionId ?? '')
  const pausesOf = Map.groupBy(pauses, ({ subscriptionId }) => subscriptionId)
  const neededOf = (row: Subscription) =>
    (invoicesOf.get(row.id) ?? []).filter((invoice) => isNeeded(row, invoice))
  const couponsOf = await readCoupons(
    unit,
    rows,
    rows.flatMap((row) => neededOf(row).map(({ id }) => id)),
  )
  const credit = await lockCredit(unit, rows, rows.flatMap(neededOf))
  const recordOf = (row: Subscription): OrderRecord => {
    const { redeemed, coupons } = couponsOf.get(row.id) ?? NO_COUPONS
    const its = {
      invoices: neededOf(row),
      pauses: pausesOf.get(row.id) ?? [],
      charging: charging.get(row.id) ?? UNCHARGED,
      redeemed,
      creditMemos: credit.get(row.customerId) ?? [],
      instant,
    }
    return {
      row,
      invoices: new Map(its.invoices.map((invoice) => [invoice.sequence, invoice])),
      pauses: new Map(its.pauses.map((pause) => [pause.id, pause])),
      creditMemos: new Map(its.creditMemos.map((memo) => [memo.id, memo])),
      cancellation: cancellations.get(row.cancellationId ?? '') ?? null,
      order: orderOf(row, its),
      charging: its.charging,
      redeemed,
      coupons: new Map(coupons.map((coupon) => [coupon.id, coupon])),
      isNew: false,
      toRefund: new Set(),
      changedRows,
    }
  }
  return rows.flatMap((row) => {
    try {
      return [recordOf(row)]
    } catch (error) {
      if (unreadable === undefined) throw error
      unreadable(row, error)
      return []
    }
  })
}

async function readCancellations(
  { em, organizationId }: UnitOfWork,
  rows: readonly Subscription[],
): Promise<ReadonlyMap<string, SubscriptionCancellation>> {
  const ids = rows.flatMap((row) =>
    isServed({ status: row.status, canceledBy: row.canceledBy ?? null }) ? (row.cancellationId ?? []) : [],
  )
  if (ids.length === 0) return new Map()
  const found = await em.find(
    SubscriptionCancellation,
    { organizationId, id: { $in: ids } },
    { refresh: true },
  )
  return new Map(found.map((cancellation) => [cancellation.id, cancellation]))
}

/** Returns the invoices that billed changes of the current period. */
function changesOf({ changedPeriod, rebillNumber }: Subscription): number[] {
  const billed = changedPeriod?.number === rebillNumber ? (changedPeriod?.billed ?? []) : []
  return billed.flatMap(({ invoice }) => invoice ?? [])
}

const OPEN: readonly InvoiceStatus[] = ['draft', 'unpaid', 'past-due', 'partially-paid']

/** Above every period's number: before its start an order has no invoice of a future period. */
const LAST_PERIOD = 2_147_483_647
