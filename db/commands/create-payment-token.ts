import { cardIsExpired, readCardNumber } from '../../billing/cards.ts'
import { type Contact, contactHash } from '../../billing/contacts.ts'
import { type InvalidField, InvalidFieldsError } from '../../billing/errors.ts'
import { TOKEN_LIFETIME } from '../../billing/payment-tokens.ts'
import { deriveRisk, type RiskInput, type Velocities } from '../../billing/risk.ts'
import { PaymentToken } from '../entities/index.ts'
import { statement } from '../statement.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { KeyStore } from './create-api-key.ts'

export interface NewPaymentToken {
  readonly method: 'payment-card'
  readonly card: {
    /** null: a token that no payment can be made with. */
    readonly pan: string | null
    readonly cvv: string | null
    readonly expMonth: number
    readonly expYear: number
  }
  readonly billingAddress: Contact | null
  readonly riskMetadata: RiskInput | null
  readonly leadSource: Record<string, string | null> | null
}

/**
 * Keeps card data for one use within thirty minutes (specification 2.3): number and security code encrypted, in one
 * column that use or expiry empties. Wakes the token-expiry workflow.
 *
 * @throws InvalidFieldsError naming what is wrong with the card; no message holds any part of its number.
 */
export async function createPaymentToken(
  unit: UnitOfWork,
  { vault, installation }: KeyStore,
  id: string,
  given: NewPaymentToken,
): Promise<PaymentToken> {
  const { pan, cvv, expMonth, expYear } = given.card
  const invalid: InvalidField[] = []
  const read = pan === null ? null : readCardNumber(pan)
  const number = read === null || 'problem' in read ? null : read
  if (read !== null && 'problem' in read) {
    invalid.push({ field: 'paymentInstrument.pan', message: read.problem })
  }
  if (cvv !== null && !/^\d{3,4}$/.test(cvv)) {
    invalid.push({ field: 'paymentInstrument.cvv', message: 'must be three or four digits' })
  }
  if (cardIsExpired(expMonth, expYear, unit.now.getTime())) {
    invalid.push({
      field: 'paymentInstrument.expYear',
      message: 'must not be in the past: the card has expired',
    })
  }
  if (invalid.length > 0) throw new InvalidFieldsError(invalid)

  const { billingAddress, riskMetadata } = given
  const shared: Shared = {
    card_fingerprint: number === null ? null : installation.hashKey(`card:${number.pan}`),
    ip_address: riskMetadata?.ipAddress ?? null,
    device: riskMetadata?.fingerprint ?? null,
    email: primaryEmail(billingAddress),
    billing_address_hash: billingAddress === null ? null : contactHash(billingAddress),
  }
  const token = unit.em.create(PaymentToken, {
    organizationId: unit.organizationId,
    id,
    method: given.method,
    bin: number?.bin ?? null,
    last4: number?.last4 ?? null,
    brand: number?.brand ?? null,
    expMonth,
    expYear,
    cardCipher:
      number === null && cvv === null
        ? null
        : await vault.seal(JSON.stringify({ pan: number?.pan ?? null, cvv })),
    cardFingerprint: shared.card_fingerprint,
    billingAddress,
    billingAddressHash: shared.billing_address_hash,
    email: shared.email,
    ipAddress: shared.ip_address,
    device: shared.device,
    riskMetadata:
      riskMetadata === null
        ? null
        : {
            ...riskMetadata,
            ...deriveRisk(
              riskMetadata,
              billingAddress?.country ?? null,
              await velocities(unit, shared),
              unit.now.getTime(),
            ),
          },
    leadSource: given.leadSource,
    isUsed: false,
    expirationTime: new Date(unit.now.getTime() + TOKEN_LIFETIME),
    revision: 1,
    createdTime: unit.now,
    updatedTime: unit.now,
  })
  unit.em.persist(token)
  if (token.cardCipher != null) unit.wake('token-expiry', id)
  return token
}

/** What a token has in common with others, by column. */
type Shared = Readonly<
  Record<'card_fingerprint' | 'ip_address' | 'device' | 'email' | 'billing_address_hash', string | null>
>

function primaryEmail(contact: Contact | null): string | null {
  const emails = contact?.emails ?? []
  return (emails.find(({ primary }) => primary) ?? emails[0])?.value.toLowerCase() ?? null
}

/** Counts the organization's tokens of the last 24 hours that share each, the one to come included, and the card's sales. */
async function velocities({ em, organizationId, now }: UnitOfWork, shared: Shared): Promise<Velocities> {
  const columns = Object.entries(shared)
  const since = new Date(now.getTime() - 24 * 3_600_000)
  const card = shared.card_fingerprint
  const [counts = {}] = await statement<Record<string, number>>(
    em,
    `select (select count(*)::int from transactions where organization_id = ? and card_fingerprint = ? and type = 'sale'
                and result = 'declined' and created_time > ?) as declined,
            (select count(*)::int from transactions where organization_id = ? and card_fingerprint = ? and type = 'sale'
                and result = 'approved') as approved,
            ${columns
              .map(
                ([column]) =>
                  `(select count(*)::int from payment_tokens where organization_id = ? and ${column} = ? and created_time > ?) as ${column}`,
              )
              .join(', ')}`,
    [
      ...[organizationId, card, since],
      ...[organizationId, card],
      ...columns.flatMap(([, value]) => [organizationId, value, since]),
    ],
  )
  const seen = (column: keyof Shared) => (shared[column] === null ? null : (counts[column] ?? 0) + 1)
  return {
    paymentInstrumentVelocity: seen('card_fingerprint'),
    deviceVelocity: seen('device'),
    ipVelocity: seen('ip_address'),
    emailVelocity: seen('email'),
    billingAddressVelocity: seen('billing_address_hash'),
    declinedPaymentInstrumentVelocity: card === null ? null : (counts.declined ?? 0),
    paymentInstrumentApprovedTransactionCount: card === null ? null : (counts.approved ?? 0),
  }
}
