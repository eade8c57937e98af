/** Payment instruments: their status, and their public fingerprint. */
import { createHash } from 'node:crypto'

export const PAYMENT_INSTRUMENT_STATUSES = [
  'active',
  'inactive',
  'expired',
  'deactivated',
  'verification-needed',
] as const
/** Only an active one is charged. `deactivated` is final. */
export type PaymentInstrumentStatus = (typeof PAYMENT_INSTRUMENT_STATUSES)[number]

/**
 * Returns the fingerprint that an organization sees of a card: equal for its equal cards, another for every other
 * organization. `cardFingerprint` is the keyed hash of the number.
 */
export function publicFingerprint(organizationId: string, cardFingerprint: string): string {
  return createHash('sha256').update(`${organizationId}:${cardFingerprint}`).digest('hex')
}
