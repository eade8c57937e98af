/** Ends what is on its way to webhooks that became inactive or were deleted. */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import { cancelUnsendable } from '../delivery/cancellation.ts'
import { type Loop, startLoop } from './loop.ts'

const INTERVAL = 2_000

export function startCancellation(em: () => EntityManager, log: Logger): Loop {
  return startLoop({
    name: 'delivery cancellation',
    interval: INTERVAL,
    log,
    async turn() {
      const canceled = await cancelUnsendable(em())
      if (canceled > 0) log.info({ canceled }, 'canceled deliveries to webhooks that are inactive or deleted')
      return false
    },
  })
}
