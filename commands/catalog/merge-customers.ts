import { InvalidFieldsError } from '../../billing/errors.ts'
import { raiseRevision } from '../../db/change-row.ts'
import { Customer } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { customerEvent } from '../../events/customer-events.ts'
import { customerEntry } from '../../events/timeline.ts'
import { endAccessOf } from '../access/end-access.ts'
import { chargeOwing, lockFreeOwing, OWES, WAS_DECLINED } from '../orders/charge-open-invoices.ts'

/** Tables whose rows a merge moves. Each table that refers to a customer is here or in `ENDED_TABLES`. */
export const MOVED_TABLES = [
  'subscriptions',
  'invoices',
  'payment_instruments',
  'transactions',
  'disputes',
  'credit_memos',
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
 * Locks the customer's orders and own invoices, and what the target owes; then both customers by id. Null: no such customer.
 * Throws InvalidFieldsError.
 */
export async function lockToMerge(
  unit: UnitOfWork,
  id: string,
  targetId: string,
): Promise<{ readonly duplicate: Customer; readonly target: Customer } | null> {
  await statement(
    unit.em,
    'lock-orders-to-merge',
    `select id from subscriptions owing
      where organization_id = ? and (customer_id = ? or (customer_id = ? and ${OWES})) order by id for update`,
    [unit.organizationId, id, targetId],
  )
  await statement(
    unit.em,
    'lock-own-invoices-to-merge',
    `select id from invoices
      where organization_id = ? and subscription_id is null and (customer_id = ? or (customer_id = ? and ${WAS_DECLINED}))
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
 * instrument that is new for it. Emits `customer-merged`; each moved record shows another customer, so its
 * revision rises.
 */
export async function mergeCustomers(unit: UnitOfWork, duplicate: Customer, target: Customer): Promise<void> {
  const { em, organizationId, now } = unit
  // Whose default instrument changes: what the other owes was charged to it already, and keeps its retries.
  const payer = target.defaultPaymentInstrumentId == null ? target : duplicate
  const owing = await lockFreeOwing(unit, payer.id)
  for (const table of MOVED_TABLES) {
    // Until none is left: a refund of a locked sale may have been added meanwhile.
    for (let moved = 1; moved > 0; ) {
      const rows = await statement(
        em,
        `merge-${table}`,
        `update ${table} set customer_id = ?, revision = revision + 1, updated_time = ?
          where organization_id = ? and customer_id = ? returning 1`,
        [target.id, now, organizationId, duplicate.id],
      )
      moved = rows.length
    }
  }
  await endAccessOf(unit, duplicate.id)
  target.defaultPaymentInstrumentId ??= duplicate.defaultPaymentInstrumentId ?? null
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
  const { defaultPaymentInstrumentId } = target
  if (defaultPaymentInstrumentId != null) await chargeOwing(unit, owing, defaultPaymentInstrumentId)
}
