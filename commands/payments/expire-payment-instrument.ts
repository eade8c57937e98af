import { raiseRevision } from '../../db/change-row.ts'
import { Customer, PaymentInstrument } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { paymentInstrumentEvent } from '../../events/payment-instrument-events.ts'

/** For a charge that found an expired card; its order is locked first. Emits `payment-card-expired`. */
export async function expirePaymentInstrument(unit: UnitOfWork, id: string): Promise<void> {
  const { em, organizationId } = unit
  const instrument = await lockRow(unit, PaymentInstrument, id)
  if (instrument?.status !== 'active') return
  instrument.status = 'expired'
  raiseRevision(instrument, unit)
  const customer = await em.findOne(
    Customer,
    { organizationId, id: instrument.customerId },
    { fields: ['websiteId'] },
  )
  unit.emit(paymentInstrumentEvent(instrument, 'payment-card-expired', unit, customer?.websiteId ?? null))
}
