/**
 * The cards that a request uses by payment token, or that the provider's own form stored. The gateway is called between
 * transactions: a command that needs a card is undone, the card is stored, and the command runs again, up to that point the
 * same.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import { InvalidFieldsError } from '../../billing/errors.ts'
import { splitReference } from '../../billing/gateway-references.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { Vault } from '../../db/vault.ts'
import type { CardRefusal, Gateway, StoredCard, StoreOptions } from '../../gateways/port.ts'
import {
  consumePaymentToken,
  leasePaymentToken,
  releasePaymentToken,
  type TokenCard,
  type TokenLease,
} from './use-payment-token.ts'

/** A token that a command is to consume. */
export interface TokenUse {
  /** How problems name it. */
  readonly field: string
  readonly token: string
  readonly options?: StoreOptions
}

/** A card that the gateway has stored; its number is gone, or never came here. */
export type UsedCard = Omit<TokenCard, 'pan' | 'cvv' | 'bin'> & StoredCard & { readonly bin: string | null }

/** A card of the provider's own form that a command is to take over. */
export interface Adoption {
  readonly field: string
  /** The provider's id of the card. */
  readonly paymentMethod: string
}

export interface RequestCards {
  /**
   * Consumes a token in a command, which has validated everything else before.
   * @throws InvalidFieldsError naming the token's field; CardNotStoredError, for `run`.
   */
  use(unit: UnitOfWork, use: TokenUse): Promise<UsedCard>
  /**
   * Takes over a card of the provider's own form.
   * @throws CardNotStoredError, for `run`.
   */
  adopt(adoption: Adoption): UsedCard
  /**
   * Runs a command, and again each time that the gateway has stored a card for it. Tokens that it does not consume in
   * the end can be used again at once.
   *
   * @throws TokenRefusedError; InvalidFieldsError if the gateway refuses a card; GatewayFailedError.
   */
  run<T>(command: () => Promise<T>): Promise<T>
}

export interface RequestCardsOptions {
  readonly em: () => EntityManager
  readonly vault: Pick<Vault, 'open'>
  readonly gateway: Pick<Gateway, 'store' | 'adopt'>
  /** A keyed hash. */
  readonly hash: (text: string) => string
  readonly organizationId: string
  /** Names the request: equal for repetitions under one `Idempotency-Key`. */
  readonly owner: string
  readonly now: () => Date
}

/** The gateway has to store a card before the command can go on. */
class CardNotStoredError extends Error {
  override readonly name = 'CardNotStoredError'
  readonly need: TokenUse | Adoption

  constructor(need: TokenUse | Adoption) {
    super('The card is not stored yet.')
    this.need = need
  }
}

export function createRequestCards(options: RequestCardsOptions): RequestCards {
  const stored = new Map<string, UsedCard>()
  const adopted = new Map<string, UsedCard>()
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
      else adopted.set(need.paymentMethod, await adopt(options, need))
    }
    return await storeAndRetry(command)
  }
  return {
    async use(unit, use) {
      const card = stored.get(use.token)
      if (card === undefined) throw new CardNotStoredError(use)
      await consumePaymentToken(unit, use.field, leaseOf(use.token))
      return card
    },
    adopt(adoption) {
      const card = adopted.get(adoption.paymentMethod)
      if (card === undefined) throw new CardNotStoredError(adoption)
      return card
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

/** Leases the token, and has the gateway store its card under the token's id, so that a repetition stores it once. */
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

function refused(field: string, { refusal }: CardRefusal): InvalidFieldsError {
  const message = `must be a card that can be stored: ${refusal}`
  return new InvalidFieldsError([{ field, code: 'not-allowed', message }])
}

/** A lease that cannot be released ends by itself. */
async function releaseQuietly(em: EntityManager, lease: TokenLease): Promise<void> {
  await releasePaymentToken(em, lease).catch(() => {})
}
