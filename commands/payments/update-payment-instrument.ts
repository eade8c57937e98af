import { cardIsExpired } from '../../billing/cards.ts'
import type { Contact } from '../../billing/contacts.ts'
import { InvalidFieldsError } from '../../billing/errors.ts'
import { Customer, type PaymentInstrument } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { paymentInstrumentEvent } from '../../events/payment-instrument-events.ts'

export interface InstrumentChanges {
  readonly expMonth: number
  readonly expYear: number
  readonly billingAddress: Contact | null
  readonly useAsBackup: boolean
  readonly customFields: Record<string, unknown>
}

/**
 * Changes a locked instrument. One that had expired is active again under a new expiry.
 *
 * @throws InvalidFieldsError naming `expYear` if a new expiry has passed.
 */
export function updatePaymentInstrument(
  { now }: Pick<UnitOfWork, 'now'>,
  instrument: PaymentInstrument,
  changes: InstrumentChanges,
): void {
  const { expMonth, expYear } = changes
  if (expMonth !== instrument.expMonth || expYear !== instrument.expYear) {
    if (cardIsExpired(expMonth, expYear, now.getTime())) {
      throw new InvalidFieldsError([
        { field: 'expYear', code: 'expired', message: 'must not be in the past' },
      ])
    }
    if (instrument.status === 'expired') instrument.status = 'active'
    instrument.expirationReminderNumber = 0
  }
  Object.assign(instrument, changes)
}

/** Emits `payment-instrument-modified`. */
export async function emitInstrumentModified(unit: UnitOfWork, instrument: PaymentInstrument): Promise<void> {
  const { em, organizationId } = unit
  const customer = await em.findOne(Customer, { organizationId, id: instrument.customerId })
  unit.emit(
    paymentInstrumentEvent(instrument, 'payment-instrument-modified', unit, customer?.websiteId ?? null),
  )
}
