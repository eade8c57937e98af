import { cardIsExpired } from '../../billing/cards.ts'
import { raiseRevision } from '../../db/change-row.ts'
import { Customer, PaymentInstrument } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { chargeOpenInvoices, lockChargeable } from '../orders/charge-open-invoices.ts'
import { emitInstrumentModified } from './update-payment-instrument.ts'

export interface RenewedCard {
  readonly last4: string
  readonly expMonth: number
  readonly expYear: number
}

/** Records what the bank changed. An instrument that had expired is active again, and charged for open invoices. */
export async function renewCard(unit: UnitOfWork, id: string, card: RenewedCard): Promise<void> {
  const { em, organizationId, now } = unit
  const found = await em.findOne(PaymentInstrument, { organizationId, id })
  if (found === null) return
  // Orders before the customer, the customer before its instruments, as everywhere.
  await lockChargeable(unit, found.customerId)
  await lockRow(unit, Customer, found.customerId)
  const instrument = await lockRow(unit, PaymentInstrument, id)
  if (instrument === null || instrument.status === 'deactivated') return
  const { last4, expMonth, expYear } = card
  const isSame =
    instrument.last4 === last4 && instrument.expMonth === expMonth && instrument.expYear === expYear
  if (isSame) return
  const isValid = !cardIsExpired(expMonth, expYear, now.getTime())
  Object.assign(instrument, {
    last4,
    expMonth,
    expYear,
    expirationReminderNumber: 0,
    status: instrument.status === 'expired' && isValid ? 'active' : instrument.status,
  })
  raiseRevision(instrument, unit)
  await emitInstrumentModified(unit, instrument)
  if (!isValid) return
  await em.flush()
  await chargeOpenInvoices(unit, instrument.customerId, { id, change: 'renewed' })
}
