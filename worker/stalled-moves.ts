/** Sandbox only. A clock's move stalls if its execution was terminated or lost; the clock stays where it is. */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import { STALLED_AFTER } from '../billing/fast-forward.ts'
import { failIfStalled } from '../commands/orders/fast-forward.ts'
import type { AgreedClock } from '../db/clock-agreement.ts'
import { statement } from '../db/statement.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import { eachByItself } from './each-by-itself.ts'
import { type Loop, startLoop } from './loop.ts'

const INTERVAL = 60_000

export interface StalledMovesOptions {
  readonly em: () => EntityManager
  readonly baseUrl: string
  readonly now: () => number
}

export function startStalledMoves(
  options: StalledMovesOptions & { readonly clock: AgreedClock; readonly log: Logger },
): Loop {
  const { log, clock } = options
  return startLoop({
    name: 'stalled moves',
    interval: INTERVAL,
    log,
    clock,
    async iterate(_, stopping) {
      const givenUp = await giveUpStalledMoves(options, stopping)
      if (givenUp > 0) log.warn({ givenUp }, "gave up moves of orders' clocks that made no progress")
      return false
    },
  })
}

export async function giveUpStalledMoves(
  { em, baseUrl, now }: StalledMovesOptions,
  stopping?: AbortSignal,
): Promise<number> {
  const stalled = await statement<{ organization_id: string; subscription_id: string }>(
    em(),
    'find-stalled-moves',
    "select organization_id, subscription_id from fast_forwards where status = 'running' and progress_time < ?",
    [new Date(now() - STALLED_AFTER)],
  )
  let givenUp = 0
  type Stalled = (typeof stalled)[number]
  const giveUp = async ({ organization_id: organizationId, subscription_id: id }: Stalled): Promise<void> => {
    const tenant = { organizationId, baseUrl, now: new Date(now()) }
    if (await inUnitOfWork(em(), tenant, (unit) => failIfStalled(unit, id))) givenUp += 1
  }
  await eachByItself(stalled, giveUp, { stopping })
  return givenUp
}
