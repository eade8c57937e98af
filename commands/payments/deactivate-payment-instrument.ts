import { ConflictError } from '../../billing/errors.ts'
import { raiseRevision } from '../../db/change-row.ts'
import { Customer, PaymentInstrument } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { customerEvent } from '../../events/customer-events.ts'
import { paymentInstrumentEvent } from '../../events/payment-instrument-events.ts'

/**
 * Deactivates an instrument for good, after `check` of the locked row. The customer is locked first, as by
 * every change of a default instrument. Returns null if it does not exist. Throws ConflictError if it is
 * deactivated.
 */
export async function deactivatePaymentInstrument(
  unit: UnitOfWork,
  id: string,
  check: (instrument: PaymentInstrument) => void,
): Promise<PaymentInstrument | null> {
  const customer = await lockOwner(unit, id)
  const instrument = await lockRow(unit, PaymentInstrument, id)
  if (instrument === null) return null
  check(instrument)
  if (instrument.status === 'deactivated') {
    throw new ConflictError('The payment instrument is deactivated already.')
  }
  instrument.status = 'deactivated'
  raiseRevision(instrument, unit)
  unit.emit(
    paymentInstrumentEvent(instrument, 'payment-instrument-modified', unit, customer?.websiteId ?? null),
  )
  if (customer?.defaultPaymentInstrumentId === id) {
    customer.defaultPaymentInstrumentId = null
    customer.isDefaultDeactivated = true
    raiseRevision(customer, unit)
    unit.emit(customerEvent(customer, 'customer-updated', unit))
  }
  return instrument
}

/** Returns the customer of an instrument, locked, also where a merge gives it to another meanwhile; null: none. */
async function lockOwner(unit: UnitOfWork, id: string): Promise<Customer | null> {
  let owner = await readOwner(unit, id)
  while (owner !== null) {
    const customer = await lockRow(unit, Customer, owner)
    const before = owner
    owner = await readOwner(unit, id)
    if (owner === before) return customer
  }
  return null
}

async function readOwner({ em, organizationId }: UnitOfWork, id: string): Promise<string | null> {
  const [found] = await statement<{ owner: string }>(
    em,
    'read-owner-of-instrument',
    'select customer_id as owner from payment_instruments where organization_id = ? and id = ?',
    [organizationId, id],
  )
  return found?.owner ?? null
}
