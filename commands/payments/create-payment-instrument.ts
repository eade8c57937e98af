import type { Contact } from '../../billing/contacts.ts'
import { publicFingerprint } from '../../billing/payment-instruments.ts'
import type { RiskInput } from '../../billing/risk.ts'
import { Customer, PaymentInstrument } from '../../db/entities/index.ts'
import { newId } from '../../db/new-id.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { paymentInstrumentEvent } from '../../events/payment-instrument-events.ts'
import { customerEntry } from '../../events/timeline.ts'
import { chargeOpenInvoices, lockChargeable } from '../orders/charge-open-invoices.ts'
import { orderRisk } from '../orders/order-risk.ts'
import { references } from '../references.ts'
import type { RequestCards, UsedCard } from './request-cards.ts'

export interface InstrumentDetails {
  /** null: that of the payment token. */
  readonly billingAddress: Contact | null
  /** null: that of the payment token. */
  readonly riskMetadata: RiskInput | null
  readonly useAsBackup: boolean
  readonly customFields: Record<string, unknown>
}

const NO_DETAILS: InstrumentDetails = {
  billingAddress: null,
  riskMetadata: null,
  useAsBackup: false,
  customFields: {},
}

/** A card of the provider's own form, by the provider's id of it. */
export interface StoredElsewhere {
  readonly paymentMethod: string
}

/**
 * One that is a backup is charged at once for what was declined for good.
 *
 * @throws InvalidFieldsError naming `customerId`, `token` or `referenceData.paymentMethod`.
 */
export async function createPaymentInstrument(
  unit: UnitOfWork,
  cards: RequestCards,
  id: string,
  {
    customerId,
    source,
    ...details
  }: Partial<InstrumentDetails> & {
    readonly customerId: string
    readonly source: { readonly token: string } | StoredElsewhere
  },
): Promise<PaymentInstrument> {
  if (details.useAsBackup) await lockChargeable(unit, customerId)
  const found = references(unit)
  const customer = await found.required(Customer, 'customerId', customerId)
  found.check()
  const owner = { id, customerId, websiteId: customer?.websiteId ?? null }
  const given = { ...owner, details: { ...NO_DETAILS, ...details } }
  const instrument = await createFrom(unit, cards, source, given)
  if (instrument.useAsBackup) {
    await unit.em.flush()
    await chargeOpenInvoices(unit, customerId, { id, change: 'backup' })
  }
  return instrument
}

async function createFrom(
  unit: UnitOfWork,
  cards: RequestCards,
  source: { readonly token: string } | StoredElsewhere,
  given: NewInstrument,
): Promise<PaymentInstrument> {
  if ('token' in source) {
    return await instrumentOfToken(unit, cards, { ...given, token: source.token, field: 'token' })
  }
  const card = await cards.adopt(unit, { ...source, field: 'referenceData.paymentMethod' })
  return await instrumentOf(unit, card, given, { paymentMethod: source.paymentMethod })
}

/**
 * Consumes a token: the gateway stores the card, and the instrument its reference. If the gateway does not
 * store the card, the token stays unused. Emits `payment-card-created`. Throws InvalidFieldsError naming
 * `field`.
 */
export async function instrumentOfToken(
  unit: UnitOfWork,
  cards: RequestCards,
  given: NewInstrument & { readonly token: string; readonly field: string },
): Promise<PaymentInstrument> {
  const { field, token } = given
  return await instrumentOf(unit, await cards.use(unit, { field, token }), given, null)
}

interface NewInstrument {
  readonly id?: string
  readonly customerId: string
  readonly websiteId: string | null
  readonly details?: InstrumentDetails
}

async function instrumentOf(
  unit: UnitOfWork,
  card: UsedCard,
  given: NewInstrument,
  referenceData: Record<string, string> | null,
): Promise<PaymentInstrument> {
  const { riskMetadata, useAsBackup, customFields, ...details } = given.details ?? NO_DETAILS
  const billingAddress = details.billingAddress ?? card.billingAddress
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
    billingAddress,
    useAsBackup,
    customFields,
    riskMetadata: await orderRisk(unit, riskMetadata, billingAddress, null, () => ({
      risk: card.riskMetadata,
      card: card.fingerprint,
    })),
    referenceData,
    gateway: card.gatewayName,
    gatewayReference: card.reference,
    backupReferences: [...(card.backups ?? [])],
    cardFingerprint: card.fingerprint,
    fingerprint: publicFingerprint(unit.organizationId, card.fingerprint),
  })
  unit.emit(paymentInstrumentEvent(instrument, 'payment-card-created', unit, given.websiteId))
  const message = `Payment instrument ${instrument.id}: ${card.brand} ending in ${card.last4} created.`
  unit.addTimelineEntry(customerEntry(given.customerId, 'payment-instrument-created', message, unit.now))
  return instrument
}
