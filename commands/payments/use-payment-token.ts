import type { CardBrand } from '../../billing/cards.ts'
import type { Contact } from '../../billing/contacts.ts'
import { type FieldProblem, InvalidFieldsError } from '../../billing/errors.ts'
import type { DerivedRisk, RiskInput } from '../../billing/risk.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { Vault } from '../../db/vault.ts'

/** The card of a consumed token; it exists only in memory. */
export interface UsedCard {
  readonly pan: string
  readonly cvv: string | null
  readonly bin: string
  readonly last4: string
  readonly brand: CardBrand
  readonly expMonth: number
  readonly expYear: number
  readonly fingerprint: string
  readonly billingAddress: Contact | null
  readonly riskMetadata: (RiskInput & DerivedRisk) | null
}

/**
 * Consumes a token. One statement checks it, marks it used and erases its card data, so that exactly one of several
 * simultaneous uses succeeds; a rollback restores the token. Wakes the token-expiry workflow, which then ends.
 *
 * @throws InvalidFieldsError naming `field`, for a token that is unknown, used, expired or without a card number.
 */
export async function usePaymentToken(
  unit: UnitOfWork,
  vault: Vault,
  field: string,
  id: string,
): Promise<UsedCard> {
  const { em, organizationId, now } = unit
  const [used] = await statement<UsedRow>(
    em,
    'use-payment-token',
    `with held as (
       select organization_id, id, card_cipher from payment_tokens
        where organization_id = ? and id = ? and not is_used and expiration_time > ?
          and card_cipher is not null and last4 is not null
          for update
     )
     update payment_tokens token
        set is_used = true, usage_time = ?, card_cipher = null, revision = revision + 1, updated_time = ?
       from held where token.organization_id = held.organization_id and token.id = held.id
     returning held.card_cipher, token.bin, token.last4, token.brand, token.exp_month, token.exp_year,
               token.card_fingerprint, token.billing_address, token.risk_metadata`,
    [organizationId, id, now, now, now],
  )
  if (used === undefined) throw new InvalidFieldsError([{ field, ...(await refusalOf(unit, id)) }])
  unit.wake('token-expiry', id, { dueBy: null })
  const { pan, cvv } = JSON.parse(await vault.open(used.card_cipher)) as { pan: string; cvv: string | null }
  return {
    pan,
    cvv,
    bin: used.bin,
    last4: used.last4,
    brand: used.brand,
    expMonth: used.exp_month,
    expYear: used.exp_year,
    fingerprint: used.card_fingerprint,
    billingAddress: used.billing_address,
    riskMetadata: used.risk_metadata,
  }
}

interface UsedRow {
  card_cipher: string
  bin: string
  last4: string
  brand: CardBrand
  exp_month: number
  exp_year: number
  card_fingerprint: string
  billing_address: Contact | null
  risk_metadata: (RiskInput & DerivedRisk) | null
}

async function refusalOf({ em, organizationId }: UnitOfWork, id: string): Promise<FieldProblem> {
  const [token] = await statement<{ is_used: boolean; last4: string | null }>(
    em,
    'read-unusable-token',
    'select is_used, last4 from payment_tokens where organization_id = ? and id = ?',
    [organizationId, id],
  )
  if (token === undefined)
    return { code: 'not-found', message: 'must be the id of an existing payment token' }
  if (token.is_used) return { code: 'used', message: 'must be an unused payment token' }
  if (token.last4 === null) return { code: 'inactive', message: 'must be a payment token with a card number' }
  return { code: 'expired', message: 'must be a payment token that has not expired' }
}
