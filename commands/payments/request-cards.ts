/**
 * The gateway is called between transactions: a command that needs a card is undone, the card is stored, and
 * the command runs again, up to that point the same.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import { canonicalJson } from '../../billing/canonical-json.ts'
import { ConflictError, InvalidFieldsError } from '../../billing/errors.ts'
import { splitReference } from '../../billing/gateway-references.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { Vault } from '../../db/vault.ts'
import type { CardRefusal, Gateway, StoredCard, StoreOptions } from '../../gateways/port.ts'
import { heldIds } from '../references.ts'
import {
  consumePaymentToken,
  leasePaymentToken,
  releasePaymentToken,
  type TokenCard,
  type TokenLease,
} from './use-payment-token.ts'

export interface TokenUse {
  /** How problems name it. */
  readonly field: string
  readonly token: string
  readonly options?: StoreOptions
}

/** Its number is gone, or never came here. */
export type UsedCard = Omit<TokenCard, 'pan' | 'cvv' | 'bin'> & StoredCard & { readonly bin: string | null }

export interface Adoption {
  readonly field: string
  /** The provider's id of the card. */
  readonly paymentMethod: string
}

/** A new expiry, which the providers are told before it is recorded. */
export interface Renewal {
  readonly expMonth: number
  readonly expYear: number
  /** What the card is called by those that hold it; the first active account has to take the expiry. */
  readonly references: readonly [string, ...string[]]
}

export interface RequestCards {
  /** Comes after all other validation. Throws InvalidFieldsError, ConflictError; CardNotStoredError, for `run`. */
  use(unit: UnitOfWork, use: TokenUse): Promise<UsedCard>
  /** @throws ConflictError; CardNotStoredError, for `run`. */
  adopt(unit: UnitOfWork, adoption: Adoption): Promise<UsedCard>
  /** Comes after all other validation. @throws CardNotStoredError, for `run`. */
  renew(renewal: Renewal): void
  /**
   * Repeats a command each time that a card is stored or renewed for it; after a failure the tokens can be used again at
   * once. Throws TokenRefusedError, InvalidFieldsError if the gateway refuses a card, GatewayFailedError.
   */
  run<T>(command: () => Promise<T>): Promise<T>
}

export interface RequestCardsOptions {
  readonly em: () => EntityManager
  readonly vault: Pick<Vault, 'open'>
  readonly gateway: Pick<Gateway, 'store' | 'adopt' | 'renew'>
  /** A keyed hash. */
  readonly hash: (text: string) => string
  readonly organizationId: string
  /** Equal for repetitions under one `Idempotency-Key`. */
  readonly owner: string
  readonly now: () => Date
}

class CardNotStoredError extends Error {
  override readonly name = 'CardNotStoredError'
  readonly need: TokenUse | Adoption | Renewal

  constructor(need: TokenUse | Adoption | Renewal) {
    super('The card is not stored yet.')
    this.need = need
  }
}

export function createRequestCards(options: RequestCardsOptions): RequestCards {
  const stored = new Map<string, UsedCard>()
  const adopted = new Map<string, UsedCard>()
  const renewed = new Set<string>()
  const leaseOf = (token: string): TokenLease => ({
    organizationId: options.organizationId,
    token,
    owner: options.owner,
  })
  const release = async (): Promise<void> => {
    for (const token of stored.keys()) await releaseQuietly(options.em(), leaseOf(token))
    stored.clear()
    adopted.clear()
  }
  const storeAndRetry = async <T>(command: () => Promise<T>): Promise<T> => {
    try {
      return await command()
    } catch (error) {
      if (!(error instanceof CardNotStoredError)) throw error
      const { need } = error
      if ('token' in need) stored.set(need.token, await store(options, need, leaseOf(need.token)))
      else if ('paymentMethod' in need) adopted.set(need.paymentMethod, await adopt(options, need))
      else renewed.add(await renew(options, need))
    }
    return await storeAndRetry(command)
  }
  return {
    async use(unit, use) {
      const card = stored.get(use.token)
      if (card === undefined) throw new CardNotStoredError(use)
      await consumePaymentToken(unit, use.field, leaseOf(use.token))
      return await withAccounts(unit, card)
    },
    async adopt(unit, adoption) {
      const card = adopted.get(adoption.paymentMethod)
      if (card === undefined) throw new CardNotStoredError(adoption)
      return await withAccounts(unit, card)
    },
    renew(renewal) {
      if (!renewed.has(canonicalJson(renewal))) throw new CardNotStoredError(renewal)
    },
    async run(command) {
      try {
        return await storeAndRetry(command)
      } catch (error) {
        await release()
        throw error
      }
    },
  }
}

/** No account that holds the card is deleted before the commit. @throws ConflictError if its first one has been. */
async function withAccounts(unit: UnitOfWork, card: UsedCard): Promise<UsedCard> {
  const { reference, backups = [] } = card
  const accounts = [reference, ...backups].flatMap((one) => splitReference(one)?.account ?? [])
  if (accounts.length === 0) return card
  const held = await heldIds(unit, 'gateway_accounts', accounts)
  const isHeld = (one: string) => held.has(splitReference(one)?.account ?? '')
  if (!isHeld(reference)) {
    throw new ConflictError('The gateway account that stored the card was deleted meanwhile. Try again.')
  }
  return { ...card, backups: backups.filter(isHeld) }
}

/** Under the token's id, so that a repetition stores the card once. */
async function store(
  { em, vault, gateway, organizationId, now }: RequestCardsOptions,
  { field, options }: TokenUse,
  lease: TokenLease,
): Promise<UsedCard> {
  const { pan, cvv, ...card } = await leasePaymentToken(em(), vault, field, lease, now())
  const { expMonth, expYear, brand } = card
  try {
    const stored = await gateway.store(
      organizationId,
      { pan, cvv, expMonth, expYear, brand },
      lease.token,
      options,
    )
    if ('refusal' in stored) throw refused(field, stored)
    return { ...card, ...stored }
  } catch (error) {
    await releaseQuietly(em(), lease)
    throw error
  }
}

async function adopt(
  { gateway, organizationId, hash }: RequestCardsOptions,
  { field, paymentMethod }: Adoption,
): Promise<UsedCard> {
  const card = await gateway.adopt(organizationId, paymentMethod)
  if ('refusal' in card) throw refused(field, card)
  const holder = `${organizationId}/${splitReference(card.reference)?.account ?? ''}`
  return {
    ...card,
    bin: null,
    // The number is not known, so that this is equal for equal cards of one account alone.
    fingerprint: hash(`adopted:${holder}/${card.fingerprint}`),
    billingAddress: null,
    riskMetadata: null,
  }
}

/** Returns what is then renewed. Accounts that are only tried after the first active one may be beyond reach for good. */
async function renew({ gateway, organizationId }: RequestCardsOptions, renewal: Renewal): Promise<string> {
  const { references, expMonth, expYear } = renewal
  let isTaken = false
  for (const reference of references) {
    const told = gateway.renew(organizationId, reference, { expMonth, expYear })
    const refusal = await (isTaken ? told.catch(() => null) : told)
    if (isTaken || refusal === 'not-used') continue
    if (refusal !== null) {
      const message = `must be the expiry of the card: ${refusal.refusal}`
      throw new InvalidFieldsError([{ field: 'expYear', code: 'not-allowed', message }])
    }
    isTaken = true
  }
  return canonicalJson(renewal)
}

function refused(field: string, { refusal }: CardRefusal): InvalidFieldsError {
  const message = `must be a card that can be stored: ${refusal}`
  return new InvalidFieldsError([{ field, code: 'not-allowed', message }])
}

/** A lease that cannot be released ends by itself. */
async function releaseQuietly(em: EntityManager, lease: TokenLease): Promise<void> {
  await releasePaymentToken(em, lease).catch(() => {})
}
