import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import { cancelUnsendable } from '../delivery/cancel-unsendable.ts'
import { type Loop, startLoop } from './loop.ts'
import type { Watchdog } from './watchdog.ts'

const INTERVAL = 2_000

export interface CancellationOptions {
  readonly em: () => EntityManager
  readonly log: Logger
  readonly watchdog?: Watchdog
}

export function startCancellation({ em, log, watchdog }: CancellationOptions): Loop {
  return startLoop({
    name: 'delivery cancellation',
    interval: INTERVAL,
    log,
    watchdog,
    clock: null,
    async iterate(progress, stopping) {
      const canceled = await cancelUnsendable(em(), { progress, stopping })
      if (canceled > 0) log.info({ canceled }, 'canceled deliveries to webhooks that are inactive or deleted')
      return false
    },
  })
}
