/**
 * The cards that a request uses by payment token. The gateway stores them between transactions: a command that needs one
 * is undone, its card is stored, and the command runs again, up to that point the same.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import { InvalidFieldsError } from '../../billing/errors.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { Vault } from '../../db/vault.ts'
import type { Gateway, StoredCard, StoreOptions } from '../../gateways/port.ts'
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

/** A card that the gateway has stored; its number is gone. */
export type UsedCard = Omit<TokenCard, 'pan' | 'cvv'> & StoredCard

export interface TokenCards {
  /**
   * Consumes a token in a command, which has validated everything else before.
   * @throws InvalidFieldsError naming the token's field; CardNotStoredError, for `run`.
   */
  use(unit: UnitOfWork, use: TokenUse): Promise<UsedCard>
  /**
   * Runs a command, and again each time that the gateway has stored a card for it. Tokens that it does not consume in
   * the end can be used again at once.
   *
   * @throws TokenRefusedError; InvalidFieldsError if the gateway refuses a card; GatewayFailedError.
   */
  run<T>(command: () => Promise<T>): Promise<T>
}

export interface TokenCardsOptions {
  readonly em: () => EntityManager
  readonly vault: Pick<Vault, 'open'>
  readonly gateway: Pick<Gateway, 'store'>
  readonly organizationId: string
  /** Names the request: equal for repetitions under one `Idempotency-Key`. */
  readonly owner: string
  readonly now: () => Date
}

/** The gateway has to store a card before the command can go on. */
class CardNotStoredError extends Error {
  override readonly name = 'CardNotStoredError'
  readonly use: TokenUse

  constructor(use: TokenUse) {
    super(`The card of token ${use.token} is not stored yet.`)
    this.use = use
  }
}

export function createTokenCards(options: TokenCardsOptions): TokenCards {
  const stored = new Map<string, UsedCard>()
  const leaseOf = (token: string): TokenLease => ({
    organizationId: options.organizationId,
    token,
    owner: options.owner,
  })
  const release = async (): Promise<void> => {
    for (const token of stored.keys()) await releaseQuietly(options.em(), leaseOf(token))
    stored.clear()
  }
  const storeAndRetry = async <T>(command: () => Promise<T>): Promise<T> => {
    try {
      return await command()
    } catch (error) {
      if (!(error instanceof CardNotStoredError)) throw error
      const { use } = error
      stored.set(use.token, await store(options, use, leaseOf(use.token)))
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
  { em, vault, gateway, organizationId, now }: TokenCardsOptions,
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
    if (!('refusal' in stored)) return { ...card, ...stored }
    const message = `must be a card that can be stored: ${stored.refusal}`
    throw new InvalidFieldsError([{ field, code: 'not-allowed', message }])
  } catch (error) {
    await releaseQuietly(em(), lease)
    throw error
  }
}

/** A lease that cannot be released ends by itself. */
async function releaseQuietly(em: EntityManager, lease: TokenLease): Promise<void> {
  await releasePaymentToken(em, lease).catch(() => {})
}
