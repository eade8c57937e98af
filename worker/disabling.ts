/** Sandbox only: a webhook whose receiver has failed for two days is disabled, so that it costs nothing. */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import { disableWebhook } from '../commands/webhooks/disable-webhook.ts'
import type { Config } from '../config/config.ts'
import type { AgreedClock } from '../db/clock-agreement.ts'
import { statement } from '../db/statement.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import { DISABLING } from '../delivery/disabling-rule.ts'
import { eachByItself } from './each-by-itself.ts'
import { type Loop, startLoop } from './loop.ts'

const INTERVAL = 60_000

export interface DisablingOptions {
  readonly em: () => EntityManager
  readonly environment: Config['environment']
  readonly baseUrl: string
  readonly now: () => number
}

export function startDisabling(
  options: DisablingOptions & { readonly clock: AgreedClock; readonly log: Logger },
): Loop {
  const { log, clock } = options
  return startLoop({
    name: 'webhook disabling',
    interval: INTERVAL,
    log,
    clock,
    async iterate(_, stopping) {
      const disabled = await disableFailingWebhooks(options, stopping)
      if (disabled > 0) log.info({ disabled }, 'disabled webhooks whose receivers have failed for two days')
      return false
    },
  })
}

export async function disableFailingWebhooks(
  { em, environment, baseUrl, now }: DisablingOptions,
  stopping?: AbortSignal,
): Promise<number> {
  if (environment === 'live') return 0
  const since = new Date(now() - DISABLING.after).toISOString()
  const failing = await statement<{ organization_id: string; id: string }>(
    em(),
    'find-failing-webhooks',
    "select organization_id, id from webhooks where first_failure_time <= ? and consecutive_failures >= ? and status = 'active'",
    [since, DISABLING.failures],
  )
  let disabled = 0
  const disable = async ({
    organization_id: organizationId,
    id,
  }: (typeof failing)[number]): Promise<void> => {
    const tenant = { organizationId, baseUrl, now: new Date(now()) }
    if (await inUnitOfWork(em(), tenant, (unit) => disableWebhook(unit, id))) disabled += 1
  }
  await eachByItself(failing, disable, { stopping })
  return disabled
}
