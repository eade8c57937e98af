/** Expires payment cards at the end of their month, and emits a notice a month ahead (docs/adr/0069). */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import { EXPIRY_NOTICE } from '../billing/cards.ts'
import { expireCards } from '../commands/payments/expire-cards.ts'
import type { AgreedClock } from '../db/clock-agreement.ts'
import { isInfrastructureFailure } from '../db/infrastructure-failure.ts'
import { statement } from '../db/statement.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import { type Loop, startLoop } from './loop.ts'
import type { Watchdog } from './watchdog.ts'

const INTERVAL = 60_000
const FOUND = 2_000
const BATCH = 100

export interface CardExpiryOptions {
  readonly em: () => EntityManager
  readonly baseUrl: string
  readonly now: () => number
  readonly log: Pick<Logger, 'error'>
}

export function startCardExpiry(
  options: Omit<CardExpiryOptions, 'log'> & {
    readonly clock: AgreedClock
    readonly log: Logger
    readonly watchdog?: Watchdog
  },
): Loop {
  const { log, watchdog, clock } = options
  return startLoop({
    name: 'card expiry',
    interval: INTERVAL,
    log,
    watchdog,
    clock,
    async iterate(progress, stopping) {
      const { changed, isMore } = await expireDueCards(options, progress, stopping)
      if (changed > 0) log.info({ changed }, 'payment cards have expired or are about to')
      return isMore
    },
  })
}

export async function expireDueCards(
  options: CardExpiryOptions,
  progress: () => void = () => {},
  stopping?: AbortSignal,
): Promise<{ readonly changed: number; readonly isMore: boolean }> {
  const { em, now } = options
  const instant = now()
  const ended = monthOf(instant)
  const told = monthOf(instant + EXPIRY_NOTICE)
  const due = await statement<{ organization_id: string; id: string }>(
    em(),
    'find-expiring-cards',
    `select organization_id, id from payment_instruments
      where status = 'active' and exp_year * 12 + exp_month < ?
        and (exp_year * 12 + exp_month < ? or expiration_reminder_number = 0)
      order by exp_year * 12 + exp_month, organization_id, id limit ${FOUND}`,
    [told, ended],
  )
  let changed = 0
  for (const [organizationId, cards] of Map.groupBy(due, (card) => card.organization_id)) {
    for (let from = 0; from < cards.length && stopping?.aborted !== true; from += BATCH) {
      const ids = cards.slice(from, from + BATCH).map(({ id }) => id)
      changed += await expire(options, organizationId, ids, instant)
      progress()
    }
  }
  return { changed, isMore: due.length === FOUND && changed > 0 }
}

/** Expires cards of one organization together, or one by one if that fails. Returns how many changed. */
async function expire(
  { em, baseUrl, log }: CardExpiryOptions,
  organizationId: string,
  ids: readonly string[],
  instant: number,
): Promise<number> {
  const together = async (some: readonly string[]): Promise<number> =>
    await inUnitOfWork(em(), { organizationId, baseUrl, now: new Date(instant) }, (unit) =>
      expireCards(unit, some),
    )
  try {
    return await together(ids)
  } catch (error) {
    if (isInfrastructureFailure(error)) throw error
  }
  let changed = 0
  for (const id of ids) {
    try {
      changed += await together([id])
    } catch (error) {
      if (isInfrastructureFailure(error)) throw error
      log.error(
        { err: error, organizationId, paymentInstrumentId: id },
        'a payment card could not be expired',
      )
    }
  }
  return changed
}

/** Returns the number of the instant's month, UTC: cards with a lower one have expired then. */
function monthOf(instant: number): number {
  const date = new Date(instant)
  return date.getUTCFullYear() * 12 + date.getUTCMonth() + 1
}
