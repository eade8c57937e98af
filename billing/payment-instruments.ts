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

/** Returns what an organization sees of a card: no other organization has the same for an equal card. */
export function publicFingerprint(organizationId: string, cardFingerprint: string): string {
  return createHash('sha256').update(`${organizationId}:${cardFingerprint}`).digest('hex')
}
