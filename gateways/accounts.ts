/**
 * Dispatches movements to the gateway accounts of an organization. An instrument's reference names its account,
 * so a movement goes to the account that holds it, whatever accounts there are by then.
 * Other references belong to the deployment's own gateway: in the sandbox the test gateway.
 */
import { referenceOf, splitReference } from '../billing/gateway-references.ts'
import type { GatewayNotification, SentNotification } from './notifications.ts'
import {
  type CardRefusal,
  type Charge,
  type Gateway,
  GatewayFailedError,
  type GatewayResult,
  type Movement,
  NoGatewayError,
  requestOf,
  type StoredCard,
} from './port.ts'

export const GATEWAY_NAMES = ['TestGateway', 'Stripe'] as const
export type GatewayName = (typeof GATEWAY_NAMES)[number]

export interface GatewayAccountFacts {
  readonly id: string
  readonly gatewayName: GatewayName
  readonly revision: number
  /** Only an active account stores cards and charges. */
  readonly isActive: boolean
  /** Empty: all. The same holds for the card brands. */
  readonly acceptedCurrencies: readonly string[]
  readonly paymentCardSchemes: readonly string[]
  /** False: it takes only what the provider's form made. */
  readonly takesCardNumbers: boolean
  readonly descriptor: string | null
  readonly secretKey: string | null
  /** Verifies notifications; null: they are refused. */
  readonly webhookSecret: string | null
}

export interface GatewayAccountSource {
  find(organizationId: string, id: string): Promise<GatewayAccountFacts | null>
  /** In the order in which they are tried. */
  active(organizationId: string): Promise<GatewayAccountFacts[]>
}

/** An account that need not exist yet. */
export type ProbedAccount = Pick<GatewayAccountFacts, 'gatewayName' | 'secretKey'>

export interface GatewayOfAccounts extends Gateway {
  /** @throws CredentialsRefusedError; GatewayFailedError if the provider cannot be reached. */
  probe(organizationId: string, account: string | ProbedAccount): Promise<void>
  /**
   * Null if the account does not exist.
   * @throws NotificationRefusedError if not the provider's or too old; ConflictError if the account has no secret.
   */
  readNotification(
    organizationId: string,
    account: string,
    sent: SentNotification,
  ): Promise<GatewayNotification | null>
}

export interface Adapters {
  of(account: GatewayAccountFacts): Gateway
  probe(account: ProbedAccount): Promise<void>
  readNotification(
    organizationId: string,
    account: GatewayAccountFacts,
    sent: SentNotification,
  ): GatewayNotification
}

export function dispatchByAccount(
  own: Gateway,
  source: GatewayAccountSource,
  adapters: Adapters,
): GatewayOfAccounts {
  const holderOf = async (organizationId: string, reference: string) => {
    const parts = splitReference(reference)
    if (parts === null) return { gateway: own, account: null, reference }
    const account = await source.find(organizationId, parts.account)
    if (account === null) return null
    return { gateway: adapters.of(account), account, reference: parts.reference }
  }

  const sendNew = async (kind: 'charge' | 'authorize', charge: Charge): Promise<GatewayResult> => {
    const holder = await holderOf(charge.organizationId, charge.reference)
    if (holder === null) return refused('unknown-gateway-account', 'hard')
    const { account, gateway, reference } = holder
    if (account !== null && !account.isActive) return refused('gateway-account-inactive', 'soft')
    if (account !== null && !accepts(account.acceptedCurrencies, charge.currency)) {
      return refused('currency-not-accepted', 'hard')
    }
    return await gateway[kind]({ ...charge, reference })
  }

  return {
    name: own.name,
    idempotencyWindow: Math.min(own.idempotencyWindow, SHORTEST_WINDOW),

    async takesCards(organizationId) {
      const accounts = await source.active(organizationId)
      return accounts.length === 0
        ? await own.takesCards(organizationId)
        : accounts.some(({ takesCardNumbers }) => takesCardNumbers)
    },

    async store(organizationId, card, requestId, options = {}) {
      const { currency = null } = options
      const accounts = await source.active(organizationId)
      if (accounts.length === 0) return await own.store(organizationId, card, requestId, options)
      const fitting = accounts.filter(
        ({ takesCardNumbers, acceptedCurrencies, paymentCardSchemes }) =>
          takesCardNumbers &&
          (currency === null || accepts(acceptedCurrencies, currency)) &&
          (card.brand === undefined || accepts(paymentCardSchemes, card.brand)),
      )
      if (fitting.length === 0) {
        const where = currency === null ? '' : ` in ${currency}`
        return { refusal: `No gateway account takes ${card.brand ?? 'this card'}${where}.` }
      }
      return await firstToKeep(fitting, (account) =>
        adapters.of(account).store(organizationId, card, requestId, options),
      )
    },

    async adopt(organizationId, paymentMethod) {
      const accounts = await source.active(organizationId)
      if (accounts.length === 0) return await own.adopt(organizationId, paymentMethod)
      return await firstToKeep(accounts, async (account) => {
        const card = await adapters.of(account).adopt(organizationId, paymentMethod)
        if ('refusal' in card || accepts(account.paymentCardSchemes, card.brand)) return card
        return { refusal: `The gateway account takes no ${card.brand}.` }
      })
    },

    charge: (charge) => sendNew('charge', charge),
    authorize: (charge) => sendNew('authorize', charge),

    async capture(capture) {
      const holder = await holderOf(capture.organizationId, capture.reference)
      if (holder === null) return refused('unknown-gateway-account', 'hard')
      return await holder.gateway.capture({ ...capture, reference: holder.reference })
    },

    async void(release) {
      const holder = await holderOf(release.organizationId, release.reference)
      if (holder === null) return refused('unknown-gateway-account', 'hard')
      return await holder.gateway.void({ ...release, reference: holder.reference })
    },

    async abandon(charge, since) {
      const holder = await holderOf(charge.organizationId, charge.reference)
      if (holder === null) throw new NoGatewayError('The gateway account of the charge does not exist.')
      return await holder.gateway.abandon({ ...charge, reference: holder.reference }, since)
    },

    async refund(refund) {
      const holder = await holderOf(refund.organizationId, refund.reference)
      if (holder === null) return refused('unknown-gateway-account', 'hard')
      return await holder.gateway.refund({ ...refund, reference: holder.reference })
    },

    async find(movement, since) {
      const { organizationId, reference } = requestOf(movement)
      const holder = await holderOf(organizationId, reference)
      if (holder === null) throw new NoGatewayError('The gateway account of the movement does not exist.')
      return await holder.gateway.find(withReference(movement, holder.reference), since)
    },

    async probe(organizationId, account) {
      const probed = typeof account === 'string' ? await source.find(organizationId, account) : account
      if (probed === null) throw new NoGatewayError('The gateway account does not exist.')
      await adapters.probe(probed)
    },

    async readNotification(organizationId, account, sent) {
      const found = await source.find(organizationId, account)
      return found === null ? null : adapters.readNotification(organizationId, found, sent)
    },

    close: () => own.close(),
  }
}

async function firstToKeep<Card extends StoredCard>(
  accounts: readonly GatewayAccountFacts[],
  keep: (account: GatewayAccountFacts) => Promise<Card | CardRefusal>,
): Promise<Card | CardRefusal> {
  let failure: GatewayFailedError | null = null
  let refusal: CardRefusal | null = null
  for (const account of accounts) {
    try {
      const kept = await keep(account)
      if (!('refusal' in kept))
        return { ...kept, reference: referenceOf({ account: account.id, reference: kept.reference }) }
      refusal ??= kept
    } catch (error) {
      if (!(error instanceof GatewayFailedError)) throw error
      failure ??= error
    }
  }
  // A card that one account refuses may be kept by the next; one that could not be reached may keep it later.
  if (failure !== null || refusal === null) throw failure ?? new GatewayFailedError('No gateway account.')
  return refusal
}

const SHORTEST_WINDOW = 23 * 3_600_000

function accepts(accepted: readonly string[], value: string): boolean {
  return accepted.length === 0 || accepted.includes(value)
}

function refused(reason: string, decline: NonNullable<GatewayResult['decline']>): GatewayResult {
  return { result: 'declined', raw: JSON.stringify({ result: 'declined', reason }), decline }
}

function withReference(movement: Movement, reference: string): Movement {
  switch (movement.kind) {
    case 'charge':
    case 'authorize':
      return { ...movement, charge: { ...movement.charge, reference } }
    case 'refund':
      return { ...movement, refund: { ...movement.refund, reference } }
    case 'capture':
      return { ...movement, capture: { ...movement.capture, reference } }
    case 'void':
      return { ...movement, release: { ...movement.release, reference } }
  }
}
