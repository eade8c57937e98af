import { cardIsExpired } from '../../billing/cards.ts'
import type { Contact } from '../../billing/contacts.ts'
import { InvalidFieldsError } from '../../billing/errors.ts'
import { Customer, PaymentInstrument } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { paymentInstrumentEvent } from '../../events/payment-instrument-events.ts'
import { chargeOpenInvoices, lockChargeable } from '../orders/charge-open-invoices.ts'
import type { RequestCards } from './request-cards.ts'

export interface InstrumentChanges {
  readonly expMonth: number
  readonly expYear: number
  readonly billingAddress: Contact | null
  readonly useAsBackup: boolean
  readonly customFields: Record<string, unknown>
}

/** Locks an instrument, and before it what its customer may be charged for; null: it does not exist. */
export async function lockPaymentInstrument(unit: UnitOfWork, id: string): Promise<PaymentInstrument | null> {
  const { em, organizationId } = unit
  const found = await em.findOne(PaymentInstrument, { organizationId, id })
  if (found === null) return null
  await lockChargeable(unit, found.customerId)
  return await lockRow(unit, PaymentInstrument, id)
}

/**
 * A new expiry, which those that hold the card are told first, reactivates a locked instrument and charges what its
 * orders owe. One that becomes a backup is charged for what was declined for good. Throws InvalidFieldsError.
 */
export async function updatePaymentInstrument(
  unit: UnitOfWork,
  cards: Pick<RequestCards, 'renew'>,
  instrument: PaymentInstrument,
  changes: InstrumentChanges,
): Promise<void> {
  const { expMonth, expYear } = changes
  const isNewBackup = changes.useAsBackup && !instrument.useAsBackup
  const isRenewed = expMonth !== instrument.expMonth || expYear !== instrument.expYear
  if (isRenewed) {
    if (cardIsExpired(expMonth, expYear, unit.now.getTime())) {
      throw new InvalidFieldsError([
        { field: 'expYear', code: 'expired', message: 'must not be in the past' },
      ])
    }
    if (instrument.status !== 'deactivated') {
      const { gatewayReference, backupReferences } = instrument
      cards.renew({ expMonth, expYear, references: [gatewayReference, ...backupReferences] })
    }
    if (instrument.status === 'expired') instrument.status = 'active'
    instrument.expirationReminderNumber = 0
  }
  Object.assign(instrument, changes)
  if (!isRenewed && !isNewBackup) return
  await unit.em.flush()
  const change = isRenewed ? 'renewed' : 'backup'
  await chargeOpenInvoices(unit, instrument.customerId, { id: instrument.id, change })
}

export async function emitInstrumentModified(unit: UnitOfWork, instrument: PaymentInstrument): Promise<void> {
  const { em, organizationId } = unit
  const customer = await em.findOne(Customer, { organizationId, id: instrument.customerId })
  unit.emit(
    paymentInstrumentEvent(instrument, 'payment-instrument-modified', unit, customer?.websiteId ?? null),
  )
}
