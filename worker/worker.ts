import type { MikroORM } from '@mikro-orm/postgresql'
import type { WorkflowBundleOption } from '@temporalio/worker'
import type { Logger } from 'pino'
import { createActivities } from '../activities/activities.ts'
import { createOrderAdvancer } from '../activities/advance-order.ts'
import { createQuarantine } from '../activities/quarantine.ts'
import { gatewayAccountSource } from '../commands/payments/gateway-accounts.ts'
import { gatewayRoutes } from '../commands/payments/gateway-routes.ts'
import { NOTIFICATION_OUTCOMES } from '../commands/payments/process-notification.ts'
import type { Config } from '../config/config.ts'
import { ownPorts } from '../config/own-ports.ts'
import type { TemporalConnection } from '../config/temporal-connection.ts'
import { DELIVERY_CHANNEL, NOTIFICATION_CHANNEL, RESEND_CHANNEL, WAKE_UP_CHANNEL } from '../db/channels.ts'
import { watchDatabaseClock } from '../db/clock-agreement.ts'
import type { InstallationFacts } from '../db/installation.ts'
import { listen } from '../db/listener.ts'
import { outsideTransactions } from '../db/outside-transactions.ts'
import type { Vault } from '../db/vault.ts'
import { createAddressGuard } from '../delivery/address-guard.ts'
import type { Attempt, AttemptDependencies } from '../delivery/attempt.ts'
import { signingKeyCache } from '../delivery/key-cache.ts'
import { RetryPlaces } from '../delivery/retry-places.ts'
import { createSender, FAILURE_REASONS } from '../delivery/sender.ts'
import { createGateways } from '../gateways/gateways.ts'
import { GATEWAY_CALLS } from '../gateways/port.ts'
import { countFromZero, type Metrics } from '../ops/metrics.ts'
import type { Checks } from '../ops/readiness.ts'
import { taskQueue, WORKFLOW_NAMES } from '../workflows/contract.ts'
import { startCancellation } from './cancel-unsendable.ts'
import { startCardExpiry } from './card-expiry.ts'
import { startDisabling } from './disabling.ts'
import { startDispatcher } from './dispatcher.ts'
import { startNotifications } from './notifications.ts'
import { startRelay } from './relay.ts'
import { startRetention } from './retention.ts'
import { rememberedAttributes } from './search-attributes.ts'
import { endMove, startStalledMoves } from './stalled-moves.ts'
import { startSweep } from './sweep.ts'
import { ensureSearchAttributes, lazyClient, startPolling } from './temporal.ts'
import { startTestDisputes } from './test-disputes.ts'
import { progressCheck, startWatchdog } from './watchdog.ts'

export interface WorkerDependencies {
  readonly config: Pick<
    Config,
    | 'environment'
    | 'baseUrl'
    | 'temporalNamespace'
    | 'webhookAllowedCidrs'
    | 'port'
    | 'opsPort'
    | 'localTemporalUiPort'
    | 'stripeHost'
  >
  readonly orm: MikroORM
  readonly databaseUrl: string
  readonly temporal: TemporalConnection
  readonly vault: Vault
  readonly installation: InstallationFacts
  readonly workflowBundle: WorkflowBundleOption
  readonly metrics: Metrics
  readonly log: Logger
  /** Real time, in milliseconds; default this machine's. */
  readonly now?: () => number
  /** Called when a loop has made no progress for thirty seconds: the process should exit. */
  readonly onStalled?: (loop: string) => void
}

const TEMPORAL_TIMEOUT = 2_000

export interface RunningWorker {
  readonly ready: Promise<void>
  readonly required: Checks
  /** Checks that may fail for a while. */
  readonly checks: Checks
  /** Takes no more work, finishes and records what is in progress, and ends. */
  stop(): Promise<void>
}

/** Starts a worker at once. While Temporal is unavailable it delivers events and waits. */
export function startWorker(dependencies: WorkerDependencies): RunningWorker {
  const {
    config,
    orm,
    databaseUrl,
    temporal,
    vault,
    installation,
    workflowBundle,
    metrics,
    log,
    now = () => Date.now(),
    onStalled,
  } = dependencies
  const em = () => orm.em.fork()
  const queue = taskQueue(installation.id)
  const client = lazyClient(temporal, config.temporalNamespace)
  const sender = createSender(
    createAddressGuard(config.webhookAllowedCidrs, ownPorts(config, databaseUrl, temporal.address)),
  )
  const gateways = createGateways({
    environment: config.environment,
    databaseUrl,
    baseUrl: config.baseUrl,
    accounts: gatewayAccountSource(em, vault),
    routes: gatewayRoutes(em, now),
    stripeHost: config.stripeHost,
  })
  const gateway = outsideTransactions(gateways, GATEWAY_CALLS)
  const attempts: AttemptDependencies = {
    sender,
    signingKey: signingKeyCache(em, vault, now),
    vault,
    baseUrl: config.baseUrl,
    now,
  }

  countFromZero(metrics.deliveryAttempts, 'outcome', ['delivered', ...FAILURE_REASONS])
  countFromZero(metrics.late, 'workflow', WORKFLOW_NAMES)
  countFromZero(metrics.quarantines, 'workflow', WORKFLOW_NAMES)
  countFromZero(metrics.notifications, 'outcome', [...NOTIFICATION_OUTCOMES, 'failed'])
  const onAttempt = ({ response }: Attempt) =>
    metrics.deliveryAttempts.inc({ outcome: response.failure ?? 'delivered' })

  const watchdog = startWatchdog({
    onStalled(name) {
      log.fatal({ loop: name }, 'work has made no progress for thirty seconds')
      onStalled?.(name)
    },
  })
  const clock = watchDatabaseClock(em, now)
  // Only raw statements: no entity is kept from one iteration to the next.
  const statements = em()
  const dispatcher = startDispatcher({
    em: () => statements,
    attempts,
    clock,
    log,
    watchdog,
    onAttempt,
  })
  const skipsTime = config.environment === 'sandbox'
  const moves = { em, baseUrl: config.baseUrl, now }
  const quarantine = createQuarantine({
    em,
    log,
    now,
    counter: metrics.quarantines,
    ...(skipsTime ? { endMove: (order) => endMove(moves, { client, log }, order) } : {}),
  })
  const advancing = { em, baseUrl: config.baseUrl, now, clock, quarantine, skipsTime }
  const orders = createOrderAdvancer(advancing)
  const places = new RetryPlaces()
  const searchAttributes = rememberedAttributes(() => ensureSearchAttributes(client, log))
  const polling = startPolling({
    connection: temporal,
    client,
    namespace: config.temporalNamespace,
    taskQueue: queue,
    workflowBundle,
    async activities() {
      searchAttributes.forget()
      await searchAttributes.areAccepted()
      return createActivities({
        ...advancing,
        orders,
        attempts,
        onAttempt,
        places,
        gateway,
        log,
        unresolved: metrics.unresolvedPayments,
        unpaidRefunds: metrics.unpaidRefunds,
        isVisible: searchAttributes.wereAccepted,
      })
    },
    clock,
    log,
  })
  const relay = startRelay({
    em,
    client,
    taskQueue: queue,
    searchAttributes,
    clock,
    log,
    watchdog,
  })
  const sweep = startSweep({ em, orders, late: metrics.late, log, watchdog })
  const disabling = startDisabling({
    em,
    environment: config.environment,
    baseUrl: config.baseUrl,
    now,
    clock,
    log,
  })
  const cancellation = startCancellation({ em: () => statements, log, watchdog })
  const stalledMoves = startStalledMoves({ ...moves, clock, log })
  const notifications = startNotifications({
    em,
    baseUrl: config.baseUrl,
    now,
    clock,
    counter: metrics.notifications,
    log,
    watchdog,
  })
  const cardExpiry = startCardExpiry({ em, baseUrl: config.baseUrl, now, clock, log, watchdog })
  const testDisputes =
    gateways.disputes === null
      ? []
      : [
          startTestDisputes({
            em,
            baseUrl: config.baseUrl,
            now,
            clock,
            disputes: gateways.disputes,
            log,
            watchdog,
          }),
        ]
  const retention = startRetention({ databaseUrl, failures: metrics.failedRemovals, log })
  const listener = listen(
    databaseUrl,
    {
      [WAKE_UP_CHANNEL]: () => relay.nudge(),
      [DELIVERY_CHANNEL]: () => dispatcher.nudge(),
      [NOTIFICATION_CHANNEL]: () => notifications.nudge(),
      [RESEND_CHANNEL]: () => dispatcher.nudge(),
    },
    log,
  )
  return {
    ready: polling.ready,
    required: { loops: progressCheck(watchdog) },
    checks: {
      async temporal() {
        try {
          await client.connection.withDeadline(Date.now() + TEMPORAL_TIMEOUT, () =>
            client.workflowService.getSystemInfo({}),
          )
          const failure = polling.failure()
          return failure === null ? null : `not polling: ${failure}`
        } catch (error) {
          return `cannot be reached: ${Error.isError(error) ? error.message : error}`
        }
      },
    },
    async stop() {
      const loops = [
        notifications,
        cardExpiry,
        ...testDisputes,
        sweep,
        disabling,
        cancellation,
        stalledMoves,
        retention,
        dispatcher,
      ]
      const temporal = relay.stop().then(() => polling.stop())
      // One that fails, as without a database, ends no other: a charge that is under way would lose its outcome.
      const results = await Promise.allSettled([
        ...loops.map((loop) => loop.stop()),
        orders.stop(),
        temporal,
        listener.close(),
      ])
      await clock.stop()
      watchdog.stop()
      await sender.close()
      await gateway.close()
      await client.connection.close()
      for (const result of results) if (result.status === 'rejected') throw result.reason
    },
  }
}
