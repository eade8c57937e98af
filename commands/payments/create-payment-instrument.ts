import { InvalidFieldsError } from '../../billing/errors.ts'
import { Customer, PaymentInstrument } from '../../db/entities/index.ts'
import { newId } from '../../db/ids.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { Vault } from '../../db/vault.ts'
import type { Gateway, StoredCard } from '../../gateways/port.ts'
import { presentPaymentInstrument } from '../../representations/payment-instrument.ts'
import { references } from '../references.ts'
import { type UsedCard, usePaymentToken } from './use-payment-token.ts'

/** What a command needs to store cards: the vault and the gateway. */
export interface CardPath {
  readonly vault: Vault
  readonly gateway: Gateway
}

/**
 * Creates an instrument of an existing customer from a payment token.
 *
 * @throws InvalidFieldsError naming `customerId` or `token`.
 */
export async function createPaymentInstrument(
  unit: UnitOfWork,
  path: CardPath,
  id: string,
  { customerId, token }: { readonly customerId: string; readonly token: string },
): Promise<PaymentInstrument> {
  const found = references(unit)
  const customer = await found.required(Customer, 'customerId', customerId)
  found.check()
  return await instrumentOfToken(unit, path, {
    id,
    customerId,
    websiteId: customer?.websiteId ?? null,
    token,
    field: 'token',
  })
}

/**
 * Consumes a token: the gateway stores the card, the instrument stores the gateway's reference and the public fields.
 * Emits `payment-card-created`. The gateway stores the card before the commit; if that fails, the token stays unused.
 *
 * @throws InvalidFieldsError naming `field`.
 */
export async function instrumentOfToken(
  unit: UnitOfWork,
  { vault, gateway }: CardPath,
  given: {
    readonly id?: string
    readonly customerId: string
    readonly websiteId: string | null
    readonly token: string
    readonly field: string
  },
): Promise<PaymentInstrument> {
  const card = await usePaymentToken(unit, vault, given.field, given.token)
  const { reference, gatewayName } = await storedCard(gateway, unit, card, given)
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
    billingAddress: card.billingAddress,
    riskMetadata: card.riskMetadata,
    gateway: gatewayName,
    gatewayReference: reference,
    cardFingerprint: card.fingerprint,
  })
  const representation = presentPaymentInstrument(instrument, unit.baseUrl)
  unit.emit({
    type: 'payment-card-created',
    time: unit.now,
    websiteId: given.websiteId,
    ids: { paymentInstrumentId: instrument.id, paymentCardId: instrument.id },
    embedded: { paymentInstrument: representation },
    links: representation._links.map((link) =>
      link.rel === 'self' ? { ...link, rel: 'paymentInstrument' } : link,
    ),
  })
  return instrument
}

/**
 * Stores a card with the gateway, under its token's id, so that a repetition stores it once.
 * @throws InvalidFieldsError naming `field`, if the gateway refuses the card.
 */
export async function storedCard(
  gateway: Pick<Gateway, 'store'>,
  { organizationId }: Pick<UnitOfWork, 'organizationId'>,
  card: UsedCard,
  { field, token, currency = null }: { field: string; token: string; currency?: string | null },
): Promise<StoredCard> {
  const stored = await gateway.store(organizationId, card, token, currency)
  if (!('refusal' in stored)) return stored
  const message = `must be a card that can be stored: ${stored.refusal}`
  throw new InvalidFieldsError([{ field, code: 'rejected', message }])
}
