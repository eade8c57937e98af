import { Customer, PaymentInstrument } from '../../db/entities/index.ts'
import { newId } from '../../db/ids.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { Vault } from '../../db/vault.ts'
import type { Gateway } from '../../gateways/port.ts'
import { presentPaymentInstrument } from '../../representations/payment-instrument.ts'
import { references } from '../references.ts'
import { usePaymentToken } from './use-payment-token.ts'

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
    gateway: gateway.name,
    gatewayReference: await gateway.store(unit.organizationId, card, given.token),
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
