import { cardIsExpired, readCardNumber } from '../../billing/cards.ts'
import type { Contact } from '../../billing/contacts.ts'
import { type InvalidField, InvalidFieldsError } from '../../billing/errors.ts'
import { TOKEN_LIFETIME } from '../../billing/payment-tokens.ts'
import { deriveRisk, type RiskInput } from '../../billing/risk.ts'
import { PaymentToken } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { KeyStore } from '../access/create-api-key.ts'
import { sharedBy, velocities } from './velocities.ts'

export interface NewPaymentToken {
  readonly method: 'payment-card'
  readonly card: {
    /** null: a token that cannot be used for payments. */
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
 * Stores card data for a single use within thirty minutes (specification 2.3), encrypted in one column that
 * use and expiry empty. Throws InvalidFieldsError; no message contains a digit of the number.
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
    invalid.push({ field: 'paymentInstrument.pan', ...read.problem })
  }
  if (cvv !== null && !/^\d{3,4}$/.test(cvv)) {
    invalid.push({
      field: 'paymentInstrument.cvv',
      code: 'wrong-format',
      message: 'must be three or four digits',
    })
  }
  if (cardIsExpired(expMonth, expYear, unit.now.getTime())) {
    invalid.push({
      field: 'paymentInstrument.expYear',
      code: 'expired',
      message: 'must not be in the past',
    })
  }
  if (invalid.length > 0) throw new InvalidFieldsError(invalid)

  const { billingAddress, riskMetadata } = given
  const fingerprint = number === null ? null : installation.hashKey(`card:${number.pan}`)
  const shared = sharedBy(riskMetadata, billingAddress, fingerprint)
  const token = unit.insert(PaymentToken, {
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
              await velocities(unit, shared, 1),
              unit.now.getTime(),
            ),
          },
    leadSource: given.leadSource,
    isUsed: false,
    expirationTime: new Date(unit.now.getTime() + TOKEN_LIFETIME),
  })
  if (token.cardCipher != null) {
    unit.startWorkflow('token-expiry', id, { dueBy: token.expirationTime, attributes: { status: 'unused' } })
  }
  return token
}
