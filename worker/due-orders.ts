/**
 * Settles many due orders at once, when the timer of one of them, or a new order, tells that some are.
 *
 * Each order keeps its own timer, and would be settled by it alone. But what the engine does for one timer costs more than
 * settling the order, so a thousand that fall on one moment would start one after the other. Here they are settled a batch
 * to a transaction; their timers then find it done.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import {
  organizationsWithDueSubscriptions,
  settleDueSubscriptions,
} from '../db/commands/settle-subscription.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import { type Loop, startLoop } from './loop.ts'

/** Orders settled in one transaction. */
const BATCH = 100
/** How long an order's own workflow waits to be settled along with others before it settles by itself. Milliseconds. */
const PATIENCE = 2_000
/** Without a ring the deadlines are looked over this often: an engine that is behind makes no order later. Milliseconds. */
const INTERVAL = 200
/** After a look that failed, the database being away for one, the next is that much later. Milliseconds. */
const PAUSE = 1_000

export interface DueOrdersOptions {
  readonly em: () => EntityManager
  readonly baseUrl: string
  /** Real time, in milliseconds. */
  readonly now: () => number
}

export interface DueOrders extends Loop {
  /** Resolves when what is due now has been settled, as far as that could be done together; at the latest after a while. */
  settled(): Promise<void>
}

export function startDueOrders({ em, baseUrl, now }: DueOrdersOptions, log: Logger): DueOrders {
  let waiting: (() => void)[] = []
  const turn = async (): Promise<boolean> => {
    const served = waiting
    waiting = []
    try {
      return await settleBatches()
    } catch (error) {
      await sleep(PAUSE)
      throw error
    } finally {
      for (const resolve of served) resolve()
    }
  }
  const settleBatches = async (): Promise<boolean> => {
    const organizations = await organizationsWithDueSubscriptions(em(), new Date(now()))
    let isMore = false
    let hasFailed = false
    for (const organizationId of organizations) {
      const tenant = { organizationId, baseUrl, now: new Date(now()) }
      try {
        const settled = await inUnitOfWork(em(), tenant, (unit) => settleDueSubscriptions(unit, BATCH))
        if (settled === BATCH) isMore = true
      } catch (error) {
        hasFailed = true
        log.warn(
          { err: error, organizationId },
          'due orders could not be settled together; each is by its own workflow',
        )
      }
    }
    if (hasFailed) await sleep(PAUSE)
    return isMore
  }
  const loop = startLoop({ name: 'due orders', interval: INTERVAL, log, turn })
  let isStopping = false
  return {
    ...loop,
    async stop() {
      isStopping = true
      await loop.stop()
      for (const resolve of waiting) resolve()
    },
    async settled() {
      if (isStopping) return
      const turned = new Promise<void>((resolve) => void waiting.push(resolve))
      loop.nudge()
      const patience = new AbortController()
      await Promise.race([turned, sleep(PATIENCE, undefined, { signal: patience.signal }).catch(() => {})])
      patience.abort()
    },
  }
}
