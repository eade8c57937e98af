import { InvalidFieldsError } from '../../billing/errors.ts'
import { raiseRevision } from '../../db/change-row.ts'
import { CreditMemo, Customer, Invoice, PaymentInstrument, Subscription } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { customerEvent } from '../../events/customer-events.ts'
import { customerEntry } from '../../events/timeline.ts'
import { endAccessOf } from '../access/end-access.ts'
import {
  type ChangedInstrument,
  chargeOwing,
  IS_OPEN,
  lockFreeOwing,
  MAY_OWE,
  type Owing,
} from '../orders/charge-open-invoices.ts'
import { lockDiscounted, repriceDrafts } from '../orders/order-redemptions.ts'

/**
 * Tables whose rows a merge moves, in the order in which rows are locked (docs/adr/0035). Each table that refers to a customer
 * is here or in `ENDED_TABLES`.
 */
export const MOVED_TABLES = [
  'disputes',
  'subscriptions',
  'invoices',
  'payment_instruments',
  'credit_memos',
  'transactions',
  'coupon_redemptions',
  'timeline_entries',
] as const
/** Tables whose rows end: who acts for the duplicate does not act for the target. */
export const ENDED_TABLES = [
  'authentication_tokens',
  'customer_credentials',
  'customer_tokens',
  'password_tokens',
] as const

const FIELD = 'targetCustomerId'

/**
 * Locks the customer's disputes, orders and own invoices, and what the target may be charged for; then both customers by id.
 * Null: no such customer. Throws InvalidFieldsError.
 */
export async function lockToMerge(
  unit: UnitOfWork,
  id: string,
  targetId: string,
): Promise<{ readonly duplicate: Customer; readonly target: Customer } | null> {
  await statement(
    unit.em,
    'lock-disputes-to-merge',
    'select id from disputes where organization_id = ? and customer_id = ? order by id for update',
    [unit.organizationId, id],
  )
  await statement(
    unit.em,
    'lock-orders-to-merge',
    `select id from subscriptions owing
      where organization_id = ? and (customer_id = ? or (customer_id = ? and (${MAY_OWE})))
      order by id for update`,
    [unit.organizationId, id, targetId],
  )
  await statement(
    unit.em,
    'lock-own-invoices-to-merge',
    `select id from invoices
      where organization_id = ? and subscription_id is null and (customer_id = ? or (customer_id = ? and ${IS_OPEN}))
      order by id for update`,
    [unit.organizationId, id, targetId],
  )
  const locked = new Map<string, Customer | null>()
  for (const one of [...new Set([id, targetId])].sort()) locked.set(one, await lockRow(unit, Customer, one))
  const [duplicate, target] = [locked.get(id) ?? null, locked.get(targetId) ?? null]
  if (duplicate === null) return null
  if (targetId === id)
    throw new InvalidFieldsError([{ field: FIELD, code: 'mismatch', message: 'must be another customer' }])
  if (target === null)
    throw new InvalidFieldsError([
      { field: FIELD, code: 'not-found', message: 'must be the id of an existing customer' },
    ])
  return { duplicate, target }
}

/**
 * Moves every record and tag of a locked customer to the target, and removes the customer. The target keeps
 * its own values, and takes the default instrument if it has none. What either owes is charged to a default
 * instrument that is new for it, and what was declined for good to a backup that is; drafts are discounted by the
 * redemptions of both. Emits `customer-merged`; each moved record shows another customer, so its revision rises.
 */
export async function mergeCustomers(unit: UnitOfWork, duplicate: Customer, target: Customer): Promise<void> {
  const { em, now } = unit
  // Whose default instrument changes: what the other owes was charged to it already, and keeps its retries.
  const payer = target.defaultPaymentInstrumentId == null ? target : duplicate
  const owing = {
    target: await lockFreeOwing(unit, target.id),
    duplicate: await lockFreeOwing(unit, duplicate.id),
  }
  const moved: Moved = new Map()
  for (const table of MOVED_TABLES)
    moved.set(table, await moveRows(unit, table, { from: duplicate.id, to: target.id }))
  await endAccessOf(unit, duplicate.id)
  target.defaultPaymentInstrumentId ??= duplicate.defaultPaymentInstrumentId ?? null
  target.isDefaultDeactivated =
    target.defaultPaymentInstrumentId === null &&
    (target.isDefaultDeactivated || duplicate.isDefaultDeactivated)
  const known = new Set(target.tags.map(({ id }) => id))
  target.tags = [...target.tags, ...duplicate.tags.filter(({ id }) => !known.has(id))]
  raiseRevision(target, unit)
  em.remove(duplicate)
  await em.flush()
  // Its figures now include the moved records.
  await em.refresh(target)
  unit.emit({
    ...customerEvent(target, 'customer-merged', unit),
    extra: { duplicateCustomerId: duplicate.id },
  })
  const message = `Customer ${duplicate.id} was merged into customer ${target.id}.`
  unit.addTimelineEntry(customerEntry(target.id, 'customer-merged', message, now))
  const pending = await lockDiscounted(unit, target.id)
  const changedRows = await readMoved(unit, moved, Object.values(owing), pending)
  await repriceDrafts(unit, pending, { changedRows })
  const { defaultPaymentInstrumentId: id } = target
  const chosen = id == null ? [] : [{ id, change: 'chosen' as const }]
  const backups = await readBackups(unit, target, moved)
  const forTarget = [...(payer === target ? chosen : []), ...backups.moved]
  const forDuplicate = [...(payer === duplicate ? chosen : []), ...backups.kept]
  await chargeOwing(unit, owing.target, forTarget, { changedRows })
  await chargeOwing(unit, owing.duplicate, forDuplicate, { changedRows })
}

/** Returns the backups of the target: those that the merge moved are new for what it owed, the others for the rest. */
async function readBackups(
  { em, organizationId }: UnitOfWork,
  { id: customerId }: Customer,
  moved: Moved,
): Promise<{ readonly moved: readonly ChangedInstrument[]; readonly kept: readonly ChangedInstrument[] }> {
  const found = await em.find(
    PaymentInstrument,
    { organizationId, customerId, useAsBackup: true, status: 'active' },
    { orderBy: { createdTime: 'asc', id: 'asc' } },
  )
  const backups = found.map(({ id }) => ({ id, change: 'backup' as const }))
  const ids = moved.get('payment_instruments')
  return {
    moved: backups.filter(({ id }) => ids?.has(id)),
    kept: backups.filter(({ id }) => !ids?.has(id)),
  }
}

/** The ids of the rows that were moved, by table. */
type Moved = Map<(typeof MOVED_TABLES)[number], ReadonlySet<string>>

async function moveRows(
  { em, organizationId, now }: UnitOfWork,
  table: (typeof MOVED_TABLES)[number],
  { from, to }: { readonly from: string; readonly to: string },
): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  // Until none is left: a refund of a locked sale may have been added meanwhile.
  for (;;) {
    const rows = await statement<{ id: string }>(
      em,
      `merge-${table}`,
      `update ${table} set customer_id = ?, revision = revision + 1, updated_time = greatest(updated_time, ?)
        where organization_id = ? and customer_id = ? returning id`,
      [to, now, organizationId, from],
    )
    if (rows.length === 0) return ids
    for (const { id } of rows) ids.add(id)
  }
}

/** Returns what was moved of the rows that a charge or a new price may change too: one commit is one revision. */
async function readMoved(
  { em, organizationId }: UnitOfWork,
  moved: Moved,
  owing: readonly Owing[],
  pending: readonly string[],
): Promise<Set<object>> {
  const orderIds = [...owing.flatMap(({ orders }) => orders.map(({ id }) => id)), ...pending]
  const ownIds = owing.flatMap(({ ownInvoices }) => ownInvoices.map(({ id }) => id))
  if (orderIds.length + ownIds.length === 0) return new Set()
  const orders = await em.find(Subscription, { organizationId, id: { $in: orderIds } })
  const invoices = await em.find(Invoice, {
    organizationId,
    $or: [{ subscriptionId: { $in: orderIds } }, { id: { $in: ownIds } }],
  })
  const memoIds = [...(moved.get('credit_memos') ?? [])]
  const memos = await em.find(CreditMemo, { organizationId, id: { $in: memoIds } })
  return new Set([
    ...orders.filter(({ id }) => moved.get('subscriptions')?.has(id)),
    ...invoices.filter(({ id }) => moved.get('invoices')?.has(id)),
    ...memos,
  ])
}
