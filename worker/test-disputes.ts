/** Reports the disputes of the sandbox's test gateway, as the webhooks of a provider do. */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import { OWN_GATEWAY } from '../commands/payments/process-notification.ts'
import { receiveNotification } from '../commands/payments/receive-notification.ts'
import type { AgreedClock } from '../db/clock-agreement.ts'
import { statement } from '../db/statement.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import { type Disputes, disputeNotification } from '../gateways/test-gateway.ts'
import { eachByItself } from './each-by-itself.ts'
import { type Loop, startLoop } from './loop.ts'
import type { Watchdog } from './watchdog.ts'

const INTERVAL = 2_000
/** On the clock of the order that charged, else in real time. */
const DISPUTED_AFTER = '1 day'

export interface TestDisputeOptions {
  readonly em: () => EntityManager
  readonly baseUrl: string
  readonly now: () => number
  readonly disputes: Disputes
}

export function startTestDisputes(
  options: TestDisputeOptions & {
    readonly clock: AgreedClock
    readonly log: Logger
    readonly watchdog?: Watchdog
  },
): Loop {
  const { log, watchdog, clock } = options
  return startLoop({
    name: 'disputes of the test gateway',
    interval: INTERVAL,
    log,
    watchdog,
    clock,
    async iterate(progress, stopping) {
      await reportDisputes(options, progress, stopping)
      return false
    },
  })
}

/** Returns the number of charges that are disputed now. */
export async function reportDisputes(
  { em, baseUrl, now, disputes }: TestDisputeOptions,
  progress: () => void = () => {},
  stopping?: AbortSignal,
): Promise<number> {
  const disputable = await disputes.disputable()
  if (disputable.length === 0) return 0
  const due = await statement<{
    organizationId: string
    requestId: string
    account: string | null
    disputedTime: string
  }>(
    em(),
    'find-disputed-test-charges',
    `select charge.organization_id as "organizationId", charge.request_id as "requestId",
            substring(charge.gateway_reference from '^account/([^/]+)/') as account,
            coalesce(charge.charged_time, charge.created_time) + interval '${DISPUTED_AFTER}' as "disputedTime"
       from jsonb_to_recordset(?::jsonb) as given ("organizationId" text, "requestId" text)
       join transactions charge on charge.organization_id = given."organizationId" and charge.request_id = given."requestId"
       left join subscriptions subscription
         on subscription.organization_id = charge.organization_id and subscription.id = charge.subscription_id
      where charge.result = 'approved'
        and coalesce(charge.charged_time, charge.created_time) + interval '${DISPUTED_AFTER}'
            <= ?::timestamptz + coalesce(subscription.clock_offset, 0) * interval '1 millisecond'`,
    [JSON.stringify(disputable), new Date(now())],
  )
  type Due = (typeof due)[number]
  const report = async ({ organizationId, requestId, account, disputedTime }: Due): Promise<void> => {
    const charge = disputable.find(
      (one) => one.organizationId === organizationId && one.requestId === requestId,
    )
    if (charge === undefined) return
    const notification = disputeNotification(charge, new Date(disputedTime).getTime())
    // Repeated until the gateway knows it: the id of the notification is the same.
    await inUnitOfWork(em(), { organizationId, baseUrl, now: new Date(now()) }, (unit) =>
      receiveNotification(unit, account ?? OWN_GATEWAY, notification),
    )
    await disputes.recordDisputed(charge)
  }
  // Also after a failure: while the database is away each takes a few seconds.
  await eachByItself(due, (one) => report(one).finally(progress), { stopping })
  return due.length
}
