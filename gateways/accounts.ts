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
  /** At most one for each currency. */
  readonly dailyLimits: readonly DailyLimit[]
  /** Verifies notifications; null: they are refused. */
  readonly webhookSecret: string | null
}

/** What an account charges at most in a day (UTC) in a currency; null: any number, any amount. */
export interface DailyLimit {
  readonly currency: string
  readonly count: number | null
  /** A decimal string. */
  readonly amount: string | null
}

export interface GatewayAccountSource {
  find(organizationId: string, id: string): Promise<GatewayAccountFacts | null>
  /** In the order in which they are tried. */
  active(organizationId: string): Promise<GatewayAccountFacts[]>
}

/** Where requests were sent: each to one account at a time, and never back (docs/adr/0084). */
export interface GatewayRoutes {
  /**
   * Records that a charge is about to be sent, for the first time or after `from` declined it. Returns where it was sent
   * in truth: elsewhere if it was before, nowhere (null) if all accounts have refused it.
   */
  send(
    charge: Charge,
    from: string | null,
    to: { readonly reference: string; readonly account: string; readonly limit: DailyLimit | null },
  ): Promise<SentTo | 'over-limit'>
  /** Records that no account is left after `from`. Returns where it was last sent. */
  end(charge: Charge, from: string | null): Promise<SentTo>
  last(charge: Charge): Promise<string | null>
  /** True if a charge that is declined now may be sent on. */
  isOpen(charge: Charge): Promise<boolean>
  /** References of the same card at other accounts, in the order in which they are tried. */
  backups(organizationId: string, reference: string): Promise<readonly string[]>
  /** What is declined does not count for the limit of the day. */
  uncount(charge: Charge, reference: string): Promise<void>
}

export interface SentTo {
  readonly reference: string | null
  /** When it was first sent to any account, in milliseconds; null: never before. */
  readonly since: number | null
}

interface AccountHolder {
  readonly gateway: Gateway
  /** As the gateway knows it. */
  readonly reference: string
  readonly heldBy: NonNullable<GatewayResult['heldBy']>
  /** As of `SentTo`. */
  readonly since: number | null
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
  routes: GatewayRoutes,
  adapters: Adapters,
): GatewayOfAccounts {
  const holderOf = async (organizationId: string, reference: string) => {
    const parts = splitReference(reference)
    if (parts === null) return { gateway: own, account: null, reference }
    const account = await source.find(organizationId, parts.account)
    if (account === null) return null
    return { gateway: adapters.of(account), account, reference: parts.reference }
  }

  /** Sends a charge to the account of its route, and after a soft decline to the next one that holds the card. */
  const sendByRoute = async (
    kind: 'charge' | 'authorize',
    charge: Charge,
    isStillWanted: () => Promise<boolean> = async () => true,
  ): Promise<GatewayResult> => {
    if (splitReference(charge.reference) === null) return await own[kind](charge)
    let declined: GatewayResult | null = null
    let from: string | null = null
    for (;;) {
      const next = await nextAccount(charge, from)
      if ('refusal' in next) return declined ?? next.refusal
      const result = await resultAt(next, kind, charge, isStillWanted)
      const held = { ...result, heldBy: next.heldBy }
      if (result.result !== 'declined' || result.decline !== 'soft') return held
      await routes.uncount(charge, next.heldBy.reference)
      declined = held
      from = next.heldBy.reference
      // What it pays may have ended while the account was asked.
      if (await isStillWanted()) continue
      const last = await routes.end(charge, from)
      if (last.reference === from) return held
      throw new Error('another process has sent the charge on')
    }
  }

  /** A repetition asks first: under the same key providers repeat their first response, even if it was none. */
  const resultAt = async (
    { gateway, reference, since }: AccountHolder,
    kind: 'charge' | 'authorize',
    charge: Charge,
    isStillWanted: () => Promise<boolean>,
  ): Promise<GatewayResult> => {
    const request = { ...charge, reference }
    if (since === null) return await gateway[kind](request)
    const found = await gateway.find({ kind, charge: request }, since).catch(() => null)
    if (found !== null && found.result !== 'unknown') return found
    if (await isStillWanted()) return await gateway[kind](request)
    return (
      found ?? { result: 'unknown', raw: JSON.stringify({ result: 'unknown', reason: 'not-sent-again' }) }
    )
  }

  /** Returns the account that a charge is sent to, at first or after `from` declined it; or why there is none. */
  const nextAccount = async (
    charge: Charge,
    from: string | null,
  ): Promise<AccountHolder | { readonly refusal: GatewayResult }> => {
    let refusal: GatewayResult | null = null
    for await (const reference of referencesAfter(charge, from)) {
      const holder = await holderOf(charge.organizationId, reference)
      const reason = refusalOf(holder, charge)
      if (holder?.account == null || reason !== null) {
        if (reason !== null) refusal = softer(refusal, reason)
        continue
      }
      const limit = holder.account.dailyLimits.find(({ currency }) => currency === charge.currency) ?? null
      const sent = await routes.send(charge, from, { reference, account: holder.account.id, limit })
      if (sent === 'over-limit') refusal = softer(refusal, refused('daily-limit-of-gateway-account', 'soft'))
      // Another process has ended the route there.
      else if (from !== null && sent.reference === from) break
      else return await toward(charge, sent, refusal)
    }
    const last = await routes.end(charge, from)
    // It was sent before the accounts refused it, or another process has sent it on.
    if (last.reference !== from) return await toward(charge, last, refusal)
    return { refusal: refusal ?? refused('no-gateway-account', 'soft') }
  }

  async function* referencesAfter(charge: Charge, from: string | null): AsyncGenerator<string> {
    if (from === null) yield charge.reference
    const backups = await routes.backups(charge.organizationId, charge.reference)
    yield* backups.slice(backups.indexOf(from ?? '') + 1)
  }

  const toward = async (
    { organizationId }: Charge,
    { reference, since }: SentTo,
    refusal: GatewayResult | null,
  ): Promise<AccountHolder | { readonly refusal: GatewayResult }> => {
    if (reference === null) return { refusal: refusal ?? refused('no-gateway-account', 'soft') }
    const holder = await holderOf(organizationId, reference)
    if (holder === null) throw new Error('the gateway account that a charge was sent to does not exist')
    return { ...holder, heldBy: { reference, gatewayName: holder.gateway.name }, since }
  }

  /** True if a charge that this account has declined softly goes to no other one. */
  const isFinal = async (charge: Charge, reference: string): Promise<boolean> => {
    if (charge.customer === null) return !(await routes.isOpen(charge))
    // The customer has been to the page of the bank, and is not there for another.
    const last = await routes.end(charge, reference)
    return last.reference === null || last.reference === reference
  }

  /** Returns the account that a charge was last sent to. */
  const holderOfCharge = async (charge: Charge) => {
    const isOwn = splitReference(charge.reference) === null
    const reference = isOwn ? charge.reference : ((await routes.last(charge)) ?? charge.reference)
    const holder = await holderOf(charge.organizationId, reference)
    if (holder === null) throw new NoGatewayError('The gateway account of the charge does not exist.')
    return { ...holder, heldBy: { reference, gatewayName: holder.gateway.name } }
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
      const storeIn = (account: GatewayAccountFacts) =>
        adapters.of(account).store(organizationId, card, requestId, options)
      const stored = await firstToKeep(fitting, storeIn)
      if ('refusal' in stored || options.isForPresentCustomer === true) return stored
      const account = splitReference(stored.reference)?.account
      const first = fitting.findIndex(({ id }) => id === account)
      const others = fitting.slice(first + 1, first + MOST_ACCOUNTS)
      const kept = await Promise.all(
        others.map((account) => firstToKeep([account], storeIn).catch(() => null)),
      )
      const backups = kept.flatMap((one) => (one === null || 'refusal' in one ? [] : [one.reference]))
      return { ...stored, backups }
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

    async renew(organizationId, reference, expiry) {
      const holder = await holderOf(organizationId, reference)
      if (holder === null) throw new NoGatewayError('The gateway account of the card does not exist.')
      const told = holder.gateway.renew(organizationId, holder.reference, expiry)
      if (holder.account?.isActive !== false) return await told
      // It may be enabled again, and may be beyond reach for good.
      await told.catch(() => null)
      return 'not-used'
    },

    charge: (charge, isStillWanted) => sendByRoute('charge', charge, isStillWanted),
    authorize: (charge, isStillWanted) => sendByRoute('authorize', charge, isStillWanted),

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
      const { gateway, reference, heldBy } = await holderOfCharge(charge)
      const ended = await gateway.abandon({ ...charge, reference }, since)
      return ended === null ? null : { ...ended, heldBy }
    },

    async refund(refund) {
      const holder = await holderOf(refund.organizationId, refund.reference)
      if (holder === null) return refused('unknown-gateway-account', 'hard')
      return await holder.gateway.refund({ ...refund, reference: holder.reference })
    },

    async find(movement, since) {
      if ('charge' in movement) {
        const { charge } = movement
        const { gateway, reference, heldBy } = await holderOfCharge(charge)
        const found = await gateway.find(withReference(movement, reference), since)
        if (found === null) return null
        const isSoft = found.result === 'declined' && found.decline === 'soft'
        const mayGoOn = isSoft && splitReference(charge.reference) !== null
        // Another account may still be asked, or is being asked now: `charge` goes on from here.
        return mayGoOn && !(await isFinal(charge, heldBy.reference)) ? null : { ...found, heldBy }
      }
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

/** A card is stored with so many accounts. */
const MOST_ACCOUNTS = 3

const SHORTEST_WINDOW = 23 * 3_600_000

function refusalOf(
  holder: { readonly account: GatewayAccountFacts | null } | null,
  { currency }: Charge,
): GatewayResult | null {
  if (holder?.account == null) return refused('unknown-gateway-account', 'hard')
  if (!holder.account.isActive) return refused('gateway-account-inactive', 'soft')
  if (!accepts(holder.account.acceptedCurrencies, currency)) return refused('currency-not-accepted', 'hard')
  return null
}

/** An account that may take the charge later has the last word, the first of several. */
function softer(before: GatewayResult | null, refusal: GatewayResult): GatewayResult {
  return before === null || (before.decline === 'hard' && refusal.decline === 'soft') ? refusal : before
}

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
