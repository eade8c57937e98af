import type { EntityClass } from '@mikro-orm/core'
import type { Order, Transition } from '../../billing/order.ts'
import { changeAutopay, chargeOpen, withoutDeclinesOf } from '../../billing/order-payments.ts'
import { Invoice, Subscription } from '../../db/entities/index.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { InvoicesRecord } from '../invoices/invoices-record.ts'
import {
  advanceOwnInvoice,
  applyOwnTransitions,
  loadOwnInvoice,
  scheduleOwnInvoice,
} from '../invoices/own-invoice-record.ts'
import { refundUndelivered } from '../payments/refund-sales.ts'
import { advanceBeforeRefunds, scheduleAfter, wakeOrder } from './advance-order.ts'
import { applyTransitions } from './apply-transitions.ts'
import type { ChargeTerms } from './choose-instrument.ts'
import { lockCreditOfAll } from './credit.ts'
import type { Loading } from './load-order.ts'
import { orderInstant } from './order-instant.ts'

/**
 * Locks what a new instrument of the customer may be charged for: its orders, then own invoices. Those that owe nothing yet may be
 * issued an invoice by another transaction now, which did not find the instrument. It comes before the lock of the
 * customer, as in all commands.
 */
export async function lockChargeable(unit: UnitOfWork, customerId: string): Promise<void> {
  const named = [unit.organizationId, customerId]
  await statement(
    unit.em,
    'lock-chargeable-orders',
    `select id from subscriptions owing
      where organization_id = ? and customer_id = ? and (${MAY_OWE})
      order by id for update`,
    named,
  )
  await statement(
    unit.em,
    'lock-open-own-invoices',
    `select id from invoices
      where organization_id = ? and customer_id = ? and subscription_id is null and ${IS_OPEN}
      order by id for update`,
    named,
  )
}

/** How an instrument has changed: it is the customer's default now, has a new expiry, or is a backup from now on. */
export interface ChangedInstrument {
  readonly id: string
  readonly change: 'chosen' | 'renewed' | 'backup'
}

/**
 * Makes the open invoices of those orders due for a charge, and own invoices whose charges were declined, if
 * the instrument, changed in the database already, is the one that charges them. If it is a backup, it is charged at
 * once for what was declined for good. An order that another transaction changes now keeps its own schedule.
 */
export async function chargeOpenInvoices(
  unit: UnitOfWork,
  customerId: string,
  instrument: ChangedInstrument,
): Promise<void> {
  await chargeOwing(unit, await lockFreeOwing(unit, customerId), [instrument])
}

/** What a customer owes, by the ids of its orders and own invoices. */
export interface Owing {
  readonly orders: readonly { readonly id: string }[]
  readonly ownInvoices: readonly { readonly id: string }[]
}

/** Returns what `chargeOpenInvoices` would charge now: all but what another transaction changes. */
export async function lockFreeOwing(unit: UnitOfWork, customerId: string): Promise<Owing> {
  const { em, organizationId } = unit
  const named = [organizationId, customerId]
  return {
    orders: await statement(em, 'lock-free-owing-orders', `${OWING} skip locked`, named),
    ownInvoices: await statement(em, 'lock-free-declined-invoices', `${DECLINED} skip locked`, named),
  }
}

/**
 * As `chargeOpenInvoices`, for what was locked before its customer or the customer's default changed. Of several
 * instruments the first that charges an invoice decides how.
 */
export async function chargeOwing(
  unit: UnitOfWork,
  owing: Owing,
  instruments: readonly ChangedInstrument[],
  loading: Pick<Loading, 'changedRows'> = {},
): Promise<void> {
  if (instruments.length === 0) return
  // The orders are read again: what the command has changed of them would be read back without it.
  await unit.em.flush()
  const orders = await found(unit, Subscription, owing.orders)
  const own = await found(unit, Invoice, owing.ownInvoices)
  if (orders.length + own.length > 1) await lockCreditOfAll(unit, orders, own)
  const records: InvoicesRecord[] = []
  for (const row of orders) {
    const instant = orderInstant(unit, row)
    const record = await advanceBeforeRefunds(unit, row, instant, loading)
    records.push(record)
    const charge = chargeByFirst(instruments, record.charging)
    if (charge === undefined) continue
    applyTransitions(unit, record, [charge(record.order, instant)])
    scheduleAfter(record, instant)
    wakeOrder(unit, row)
  }
  for (const row of own) {
    const instant = unit.now.getTime()
    const record = await loadOwnInvoice(unit, row, instant, loading)
    records.push(record)
    const charge = chargeByFirst(instruments, record.charging)
    if (charge === undefined) continue
    advanceOwnInvoice(unit, record, instant - 1)
    applyOwnTransitions(unit, record, [charge(record.order, instant)])
    scheduleOwnInvoice(unit, record)
  }
  await refundUndelivered(unit, records)
}

type Charge = (order: Order, at: number) => Transition

function chargeByFirst(instruments: readonly ChangedInstrument[], terms: ChargeTerms): Charge | undefined {
  return instruments.flatMap((one) => chargeBy(one, terms) ?? [])[0]
}

/** null: the instrument charges none of its invoices, or nothing more than before. */
function chargeBy(
  { id, change }: ChangedInstrument,
  { route, backups }: Pick<ChargeTerms, 'route' | 'backups'>,
): Charge | null {
  if (route?.paymentInstrumentId === id) {
    if (route.isExpired) return null
    if (change !== 'backup') return chargeOpen
    // One that was chosen was charged all along.
    return route.isBackup ? (order, at) => changeAutopay(order, at, order.terms, true, true) : null
  }
  if (!backups.some(({ paymentInstrumentId }) => paymentInstrumentId === id)) return null
  return (order, at) => {
    const known = change === 'renewed' ? withoutDeclinesOf(order, id) : order
    return changeAutopay(known, at, order.terms, true)
  }
}

async function found<Row extends { organizationId: string; id: string }>(
  { em, organizationId }: UnitOfWork,
  entity: EntityClass<Row>,
  locked: readonly { readonly id: string }[],
): Promise<Row[]> {
  if (locked.length === 0) return []
  const rows = await em.find(
    entity as EntityClass<{ organizationId: string; id: string }>,
    { organizationId, id: { $in: locked.map(({ id }) => id) } },
    { orderBy: { id: 'asc' }, refresh: true },
  )
  return rows as Row[]
}

/** SQL: true of an invoice that is to be paid. */
export const IS_OPEN = `status in ('unpaid', 'past-due', 'partially-paid')`
/** SQL: true of an order, `owing`, that is charged automatically and owes something. */
const OWES = `autopay
    and exists (select from invoices where organization_id = owing.organization_id
                   and subscription_id = owing.id and ${IS_OPEN})`
/** SQL: true of an order, `owing`, that owes something, or can still be issued an invoice. */
export const MAY_OWE = `status not in ('abandoned', 'voided', 'completed', 'trial-ended') or queued_lines <> '[]' or ${OWES}`

/** Binds organization and customer, as the next one. */
const OWING = `select id from subscriptions owing
  where organization_id = ? and customer_id = ? and ${OWES}
  order by id for update`

/** Own invoices whose automatic charge was declined. */
const DECLINED = `select id from invoices
  where organization_id = ? and customer_id = ? and subscription_id is null
    and declined_time is not null and ${IS_OPEN}
  order by id for update`
