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
