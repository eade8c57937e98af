import type { Contact } from '../../billing/contacts.ts'
import { publicFingerprint } from '../../billing/payment-instruments.ts'
import { Customer, PaymentInstrument } from '../../db/entities/index.ts'
import { newId } from '../../db/ids.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { paymentInstrumentEvent } from '../../events/payment-instrument-events.ts'
import { customerEntry } from '../../events/timeline.ts'
import { references } from '../references.ts'
import type { TokenCards } from './token-cards.ts'

/** What a merchant says of an instrument. */
export interface InstrumentDetails {
  /** null: that of the payment token. */
  readonly billingAddress: Contact | null
  readonly useAsBackup: boolean
  readonly customFields: Record<string, unknown>
}

const NO_DETAILS: InstrumentDetails = { billingAddress: null, useAsBackup: false, customFields: {} }

/**
 * Creates an instrument of an existing customer from a payment token.
 *
 * @throws InvalidFieldsError naming `customerId` or `token`.
 */
export async function createPaymentInstrument(
  unit: UnitOfWork,
  cards: TokenCards,
  id: string,
  {
    customerId,
    token,
    ...details
  }: Partial<InstrumentDetails> & { readonly customerId: string; readonly token: string },
): Promise<PaymentInstrument> {
  const found = references(unit)
  const customer = await found.required(Customer, 'customerId', customerId)
  found.check()
  return await instrumentOfToken(unit, cards, {
    id,
    customerId,
    websiteId: customer?.websiteId ?? null,
    token,
    field: 'token',
    details: { ...NO_DETAILS, ...details },
  })
}

/**
 * Consumes a token: the gateway stores the card, the instrument stores the gateway's reference and the public fields.
 * Emits `payment-card-created`. If the gateway does not store the card, the token stays unused.
 *
 * @throws InvalidFieldsError naming `field`.
 */
export async function instrumentOfToken(
  unit: UnitOfWork,
  cards: TokenCards,
  given: {
    readonly id?: string
    readonly customerId: string
    readonly websiteId: string | null
    readonly token: string
    readonly field: string
    readonly details?: InstrumentDetails
  },
): Promise<PaymentInstrument> {
  const { field, token } = given
  const card = await cards.use(unit, { field, token })
  const { billingAddress, useAsBackup, customFields } = given.details ?? NO_DETAILS
  const instrument = unit.create(PaymentInstrument, {
    id: given.id ?? newId('inst'),
    customerId: given.customerId,
    method: 'payment-card',
    bin: card.bin,
    last4: card.last4,
    brand: card.brand,
    expMonth: card.expMonth,
    expYear: card.expYear,
    status: 'active',
    billingAddress: billingAddress ?? card.billingAddress,
    useAsBackup,
    customFields,
    riskMetadata: card.riskMetadata,
    gateway: card.gatewayName,
    gatewayReference: card.reference,
    cardFingerprint: card.fingerprint,
    fingerprint: publicFingerprint(unit.organizationId, card.fingerprint),
  })
  unit.emit(paymentInstrumentEvent(instrument, 'payment-card-created', unit, given.websiteId))
  const message = `Payment instrument ${instrument.id}: ${card.brand} ending in ${card.last4} created.`
  unit.addTimelineEntry(customerEntry(given.customerId, 'payment-instrument-created', message, unit.now))
  return instrument
}
