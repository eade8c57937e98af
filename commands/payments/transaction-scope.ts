import { Customer, type Transaction } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { LockedInvoice } from './apply-payment.ts'

export interface Scope {
  readonly websiteId: string | null
  readonly time: Date
}

/** Those of the first invoice, where there is one; else the website of the customer, and real time. */
export function scopeOf(
  { now }: UnitOfWork,
  [invoice]: readonly LockedInvoice[],
  customer: Pick<Customer, 'websiteId'> | null,
): Scope {
  if (invoice !== undefined) return { websiteId: invoice.row.websiteId, time: new Date(invoice.instant) }
  return { websiteId: customer?.websiteId ?? null, time: now }
}

/** As `scopeOf`; reads the customer only where there is no invoice. */
export async function readScope(
  unit: UnitOfWork,
  invoices: readonly LockedInvoice[],
  { customerId: id }: Pick<Transaction, 'customerId'>,
): Promise<Scope> {
  const { em, organizationId } = unit
  const isRead = invoices.length === 0
  const customer = isRead
    ? await em.findOne(Customer, { organizationId, id }, { fields: ['websiteId'] })
    : null
  return scopeOf(unit, invoices, customer)
}
