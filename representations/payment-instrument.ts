import { EXPIRY_NOTICE, expiryOf } from '../billing/cards.ts'
import type { PaymentInstrument } from '../db/entities/index.ts'
import { presentContact } from './contact.ts'
import { type Link, resourceUrl } from './links.ts'

export function presentPaymentInstrument(instrument: PaymentInstrument, baseUrl: string) {
  const url = (...segments: string[]) => resourceUrl(baseUrl, instrument.organizationId, ...segments)
  const links: Link[] = [
    { rel: 'self', href: url('payment-instruments', instrument.id) },
    { rel: 'customer', href: url('customers', instrument.customerId) },
  ]
  return {
    id: instrument.id,
    customerId: instrument.customerId,
    method: instrument.method,
    bin: instrument.bin ?? null,
    last4: instrument.last4,
    brand: instrument.brand,
    expMonth: instrument.expMonth,
    expYear: instrument.expYear,
    status: instrument.status,
    fingerprint: instrument.fingerprint,
    billingAddress: presentContact(instrument.billingAddress),
    expirationReminderTime: reminderTimeOf(instrument),
    expirationReminderNumber: instrument.expirationReminderNumber,
    useAsBackup: instrument.useAsBackup,
    customFields: instrument.customFields ?? {},
    lastPaymentTime: instrument.lastPaymentTime?.toISOString() ?? null,
    referenceData: instrument.referenceData ?? {},
    riskMetadata: instrument.riskMetadata ?? null,
    revision: instrument.revision,
    createdTime: instrument.createdTime.toISOString(),
    updatedTime: instrument.updatedTime.toISOString(),
    _links: links,
  }
}

/** When the expiration reminder is due; null: not any more. */
function reminderTimeOf({ status, expMonth, expYear, expirationReminderNumber }: PaymentInstrument) {
  if (status !== 'active' || expirationReminderNumber > 0) return null
  return new Date(expiryOf(expMonth, expYear) - EXPIRY_NOTICE).toISOString()
}
