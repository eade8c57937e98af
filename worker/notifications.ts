/** One transaction each: a notification takes effect once and completely, whatever dies (docs/adr/0068). */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import {
  type ClaimedNotification,
  type NotificationOutcome,
  postponeNotification,
  processNextNotification,
  quarantineNotification,
} from '../commands/payments/process-notification.ts'
import type { AgreedClock } from '../db/clock-agreement.ts'
import { isInfrastructureFailure } from '../db/infrastructure-failure.ts'
import { statement } from '../db/statement.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import { eachByItself } from './each-by-itself.ts'
import { type Loop, startLoop } from './loop.ts'
import type { Watchdog } from './watchdog.ts'

const INTERVAL = 1_000
/** Organizations processed at a time, and notifications of each before the next one. */
const AT_ONCE = 4
const BATCH = 20
const FOUND = 1_000

export interface NotificationOptions {
  readonly em: () => EntityManager
  readonly baseUrl: string
  readonly now: () => number
  readonly counter: { inc(labels: { outcome: NotificationOutcome | 'failed' }): void }
  readonly log: Logger
}

export function startNotifications(
  options: NotificationOptions & {
    readonly clock: AgreedClock
    readonly watchdog?: Watchdog
    readonly interval?: number
  },
): Loop {
  const { log, watchdog, clock, interval = INTERVAL } = options
  return startLoop({
    name: 'notifications',
    interval,
    log,
    watchdog,
    clock,
    iterate: (progress, stopping) => processDueNotifications(options, progress, stopping),
  })
}

/** Returns true if there may be more. A notification that fails is quarantined and hinders no other. */
export async function processDueNotifications(
  options: NotificationOptions,
  progress: () => void = () => {},
  stopping?: AbortSignal,
): Promise<boolean> {
  const organizations = await statement<{ organizationId: string }>(
    options.em(),
    'find-organizations-with-notifications',
    `with recursive organization as (
       (select organization_id from gateway_notifications where ${IS_DUE} order by organization_id limit 1)
       union all
       select following.organization_id from organization, lateral (
         select organization_id from gateway_notifications
          where ${IS_DUE} and organization_id > organization.organization_id order by organization_id limit 1) following
     ) select organization_id as "organizationId" from organization limit ?`,
    [FOUND],
  )
  let isMore = organizations.length === FOUND
  const processOf = async ({ organizationId }: { readonly organizationId: string }): Promise<void> => {
    let left = BATCH
    while (left > 0 && stopping?.aborted !== true && (await processOne(options, organizationId))) {
      left -= 1
      progress()
    }
    if (left === 0) isMore = true
  }
  await eachByItself(organizations, processOf, { atOnce: AT_ONCE })
  return isMore
}

const IS_DUE = `status = 'received' and due_time <= now()`

async function processOne(
  { em, baseUrl, now, counter, log }: NotificationOptions,
  organizationId: string,
): Promise<boolean> {
  const found: ClaimedNotification[] = []
  try {
    const outcome = await inUnitOfWork(em(), { organizationId, baseUrl, now: new Date(now()) }, (unit) =>
      processNextNotification(unit, (claimed) => void found.push(claimed)),
    )
    if (outcome !== null) counter.inc({ outcome })
    return outcome !== null
  } catch (error) {
    const [claimed] = found
    if (claimed === undefined) throw error
    if (isInfrastructureFailure(error)) {
      await postponeNotification({ em: em(), organizationId }, claimed)
      log.warn({ err: error, organizationId, ...claimed }, 'a notification is processed again in seconds')
      return true
    }
    const until = await quarantineNotification({ em: em(), organizationId }, claimed, String(error))
    counter.inc({ outcome: 'failed' })
    log.error(
      { err: error, organizationId, ...claimed, until },
      'a notification of a payment provider could not be processed and is quarantined',
    )
    return true
  }
}
