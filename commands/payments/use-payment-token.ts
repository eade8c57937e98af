/**
 * A payment token is used in three steps, none of which locks a row while the gateway stores the card: lease,
 * gateway's call, consumption. A lease that its process leaves behind ends by itself.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { CardBrand } from '../../billing/cards.ts'
import type { Contact } from '../../billing/contacts.ts'
import { type FieldProblem, InvalidFieldsError } from '../../billing/errors.ts'
import { TOKEN_LEASE } from '../../billing/payment-tokens.ts'
import type { DerivedRisk, RiskInput } from '../../billing/risk.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { Vault } from '../../db/vault.ts'

/** Number and security code exist only in memory. */
export interface TokenCard {
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

export interface TokenLease {
  readonly organizationId: string
  readonly token: string
  /** Equal for repetitions under one `Idempotency-Key`. */
  readonly owner: string
}

export class TokenRefusedError extends InvalidFieldsError {
  /** True if the same request holds the token already. */
  readonly isOwn: boolean
  /** True if the token has become free since it was refused. */
  readonly isFreeAgain: boolean

  constructor(
    field: string,
    problem: FieldProblem,
    { isOwn, isFreeAgain = false }: { isOwn: boolean; isFreeAgain?: boolean },
  ) {
    super([{ field, ...problem }])
    this.isOwn = isOwn
    this.isFreeAgain = isFreeAgain
  }
}

const LEASE_TRIES = 5

/**
 * One statement checks and leases, so that exactly one of several simultaneous uses succeeds. Throws
 * TokenRefusedError for a token that is unknown, used, being used, expired or without a card number.
 */
export async function leasePaymentToken(
  em: EntityManager,
  vault: Pick<Vault, 'open'>,
  field: string,
  lease: TokenLease,
  now: Date,
  tries = LEASE_TRIES,
): Promise<TokenCard> {
  const { organizationId, token, owner } = lease
  const [leased] = await statement<LeasedRow>(
    em,
    'lease-payment-token',
    `update payment_tokens set lease_owner = ?, leased_until = ?
      where organization_id = ? and id = ? and not is_used and expiration_time > ?
        and card_cipher is not null and last4 is not null and (leased_until is null or leased_until <= ?)
     returning card_cipher, bin, last4, brand, exp_month, exp_year, card_fingerprint, billing_address, risk_metadata`,
    [owner, new Date(now.getTime() + TOKEN_LEASE), organizationId, token, now, now],
  )
  if (leased === undefined) {
    const refusal = await refusalOf(em, field, lease, now)
    if (!refusal.isFreeAgain || tries === 1) throw refusal
    return await leasePaymentToken(em, vault, field, lease, now, tries - 1)
  }
  const { pan, cvv } = JSON.parse(await vault.open(leased.card_cipher)) as { pan: string; cvv: string | null }
  return {
    pan,
    cvv,
    bin: leased.bin,
    last4: leased.last4,
    brand: leased.brand,
    expMonth: leased.exp_month,
    expYear: leased.exp_year,
    fingerprint: leased.card_fingerprint,
    billingAddress: leased.billing_address,
    riskMetadata: leased.risk_metadata,
  }
}

interface LeasedRow {
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

/** Consumes a leased token; a rollback restores it. Throws InvalidFieldsError if another request took the token. */
export async function consumePaymentToken(unit: UnitOfWork, field: string, lease: TokenLease): Promise<void> {
  const { em, organizationId, now } = unit
  const { token, owner } = lease
  const consumed = await statement<object>(
    em,
    'consume-payment-token',
    `update payment_tokens
        set is_used = true, usage_time = ?, card_cipher = null, lease_owner = null, leased_until = null,
            revision = revision + 1, updated_time = greatest(updated_time, ?)
      where organization_id = ? and id = ? and not is_used and lease_owner = ?
     returning 1`,
    [now, now, organizationId, token, owner],
  )
  if (consumed.length === 0) throw await refusalOf(em, field, { organizationId, token, owner }, now)
  unit.wake('token-expiry', token, { dueBy: null })
}

export async function releasePaymentToken(
  em: EntityManager,
  { organizationId, token, owner }: TokenLease,
): Promise<void> {
  await statement(
    em,
    'release-payment-token',
    `update payment_tokens set lease_owner = null, leased_until = null
      where organization_id = ? and id = ? and lease_owner = ?`,
    [organizationId, token, owner],
  )
}

async function refusalOf(
  em: EntityManager,
  field: string,
  { organizationId, token: id, owner }: TokenLease,
  now: Date,
): Promise<TokenRefusedError> {
  const [token] = await statement<UnusableToken>(
    em,
    'read-unusable-token',
    `select is_used, last4, lease_owner, coalesce(leased_until > ?, false) as is_leased,
            (expiration_time <= ? or card_cipher is null) as has_expired
       from payment_tokens where organization_id = ? and id = ?`,
    [now, now, organizationId, id],
  )
  const isOwn = token?.lease_owner === owner
  const refusal = (problem: FieldProblem) => new TokenRefusedError(field, problem, { isOwn })
  if (token === undefined) {
    return refusal({ code: 'not-found', message: 'must be the id of an existing payment token' })
  }
  const isFree = !token.is_used && !token.is_leased
  if (isFree && token.last4 === null) {
    return refusal({ code: 'inactive', message: 'must be a payment token with a card number' })
  }
  if (isFree && token.has_expired) {
    return refusal({ code: 'expired', message: 'must be a payment token that has not expired' })
  }
  const problem = { code: 'used', message: 'must be an unused payment token' } as const
  return new TokenRefusedError(field, problem, { isOwn, isFreeAgain: isFree })
}

interface UnusableToken {
  is_used: boolean
  last4: string | null
  lease_owner: string | null
  is_leased: boolean
  has_expired: boolean
}
