import type { Transition } from '../../billing/order.ts'
import { Invoice, type Subscription } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { actOnOrder } from '../orders/act-on-order.ts'
import { lockSubscription } from '../orders/advance-order.ts'
import type { InvoicesRecord } from './invoices-record.ts'
import { actOnOwnInvoice } from './own-invoice-record.ts'

export interface OwnedInvoice {
  readonly invoice: Invoice
  /** Locked; null: the invoice is the merchant's own, and locked itself. */
  readonly order: Subscription | null
}

/** Locks what protects an invoice (ADR 78); null if the invoice does not exist. */
export async function lockInvoice(unit: UnitOfWork, id: string): Promise<OwnedInvoice | null> {
  const { em, organizationId } = unit
  const invoice = await em.findOne(Invoice, { organizationId, id })
  if (invoice === null) return null
  if (invoice.subscriptionId == null) {
    const own = await lockRow(unit, Invoice, id)
    return own === null ? null : { invoice: own, order: null }
  }
  const order = await lockSubscription(unit, invoice.subscriptionId)
  return order === null ? null : { invoice, order }
}

/** @throws the errors of the command; nothing is written then. */
export async function actOnInvoice(
  unit: UnitOfWork,
  { invoice, order }: OwnedInvoice,
  command: (record: InvoicesRecord, at: number) => Transition,
): Promise<void> {
  if (order === null) await actOnOwnInvoice(unit, invoice, command)
  else await actOnOrder(unit, order, command)
}
