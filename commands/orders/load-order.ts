/** Loads orders that are locked, with everything of them that can still change. */
import type { InvoiceStatus } from '../../billing/invoices.ts'
import { Invoice, type Subscription, SubscriptionPause } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { readChargeTerms, UNCHARGED } from './charge-terms.ts'
import type { OrderRecord } from './order-record.ts'
import { orderOf } from './rows-to-order.ts'

/** What of an order is read besides what can change by itself. */
export interface Loading {
  /** Takes an order whose rows cannot be read as an order, which is left out; without it that is thrown. */
  readonly unreadable?: (row: Subscription, error: unknown) => void
  /** Invoices a payment, a refund or a dispute is about. */
  readonly invoiceIds?: readonly string[]
}

/** Reads the record of a locked order as it stands at an instant of its clock. */
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

/** As `loadOrder`, for orders whose clocks show the same instant. */
export async function loadOrders(
  unit: UnitOfWork,
  rows: readonly Subscription[],
  instant: number,
  { invoiceIds = [], unreadable }: Loading = {},
): Promise<OrderRecord[]> {
  const { em, organizationId } = unit
  const ofThem = { organizationId, subscriptionId: { $in: rows.map(({ id }) => id) } }
  const isNeeded = ({ rebillNumber }: Subscription, { id, type, status, charge, periodNumber }: Invoice) =>
    OPEN.includes(status) ||
    type === 'initial' ||
    charge != null ||
    // One of a period that has not begun is voided where that will not come, paid or not.
    (periodNumber ?? 0) > (rebillNumber ?? LAST_PERIOD) ||
    invoiceIds.includes(id)
  const leastPeriod = Math.min(...rows.map(({ rebillNumber }) => rebillNumber ?? LAST_PERIOD))
  const invoices = await em.find(
    Invoice,
    {
      ...ofThem,
      $or: [
        { status: { $in: [...OPEN] } },
        { type: 'initial' },
        { charge: { $ne: null } },
        { periodNumber: { $gt: leastPeriod } },
        { id: { $in: [...invoiceIds] } },
      ],
    },
    { orderBy: { sequence: 'asc' }, refresh: true },
  )
  const pauses = await em.find(
    SubscriptionPause,
    { ...ofThem, status: { $in: ['pending', 'active'] } },
    { orderBy: { id: 'asc' }, refresh: true },
  )
  const charging = await readChargeTerms(unit, rows, instant)
  const invoicesOf = Map.groupBy(invoices, ({ subscriptionId }) => subscriptionId)
  const pausesOf = Map.groupBy(pauses, ({ subscriptionId }) => subscriptionId)
  const recordOf = (row: Subscription): OrderRecord => {
    const its = {
      invoices: (invoicesOf.get(row.id) ?? []).filter((invoice) => isNeeded(row, invoice)),
      pauses: pausesOf.get(row.id) ?? [],
      charging: charging.get(row.id) ?? UNCHARGED,
    }
    return {
      row,
      invoices: new Map(its.invoices.map((invoice) => [invoice.sequence, invoice])),
      pauses: new Map(its.pauses.map((pause) => [pause.id, pause])),
      order: orderOf(row, its),
      charging: its.charging,
      isNew: false,
      toRefund: new Set(),
      changedRows: new Set(),
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

/** What can still be paid. */
const OPEN: readonly InvoiceStatus[] = ['draft', 'unpaid', 'past-due', 'partially-paid']

/** Higher than any period's number: before its start an order has no invoice of a period to come. */
const LAST_PERIOD = 2_147_483_647
