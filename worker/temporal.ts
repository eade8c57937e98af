import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Client, Connection, isGrpcServiceError } from '@temporalio/client'
import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  type WorkflowBundleOption,
} from '@temporalio/worker'
import type { Logger } from 'pino'
import { clientConnection, type TemporalConnection } from '../config/temporal-connection.ts'
import type { AgreedClock } from '../db/clock-agreement.ts'
import { RETRY_PLACES } from '../delivery/retry-places.ts'
import { GATEWAY_QUEUE_SUFFIX, HTTP_QUEUE_SUFFIX } from '../workflows/contract.ts'
import type { Activities } from '../workflows/workflows.ts'
import { registerSearchAttributes } from './search-attributes.ts'

/** Sends the SDK's log messages into our log. Call it once per process, before any other use of the SDK. */
export function installTemporalRuntime(log: Logger): void {
  const temporalLog = log.child({ part: 'temporal' })
  Runtime.install({
    // The process handles signals itself, because it drains in its own order.
    shutdownSignals: [],
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      // The queue of HTTP activities has none by design.
      if (message.startsWith('No workflows registered')) return
      temporalLog[level === 'ERROR' ? 'error' : 'warn'](
        { err: meta?.error, workflowId: meta?.workflowId },
        message,
      )
    }),
    telemetryOptions: { logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } },
  })
}

/** Returns a client that connects at first use, so that a process starts while Temporal is unavailable. */
export function lazyClient(connection: TemporalConnection, namespace: string): Client {
  return new Client({ connection: Connection.lazy(clientConnection(connection)), namespace })
}

const REGISTRATION_TIMEOUT = 2_000

/** Returns false if the namespace does not accept search attributes; executions then have none. */
export async function ensureSearchAttributes(client: Client, log: Logger): Promise<boolean> {
  const { namespace } = client.options
  try {
    await client.connection.withDeadline(Date.now() + REGISTRATION_TIMEOUT, () =>
      registerSearchAttributes(client.connection, namespace),
    )
    return true
  } catch (error) {
    log.warn({ err: error, namespace }, 'search attributes are not registered; executions have none')
    return false
  }
}

/** Workflow tasks wait for batches of the database, not for the CPU. */
const WORKFLOW_TASKS = 40

const GATEWAY_CALLS = 50
/** More than have a place, so that one without ends its turn at once, whatever hangs. */
const RETRIES = RETRY_PLACES + 20

/** Half a megabyte each. Most sleep for days with a short history, which is cheaper to replay than to keep. */
const CACHED_WORKFLOWS = 300

export interface PollingOptions {
  readonly connection: TemporalConnection
  readonly client: Client
  readonly namespace: string
  readonly taskQueue: string
  readonly workflowBundle: WorkflowBundleOption
  readonly activities: () => Promise<Activities>
  /** Polling stops while the clocks differ, because every task would fail and wait for another worker. */
  readonly clock: AgreedClock
  readonly log: Logger
}

export interface Polling {
  readonly ready: Promise<void>
  /** Why it could not begin, or ended; null: it polls, or has not failed yet. */
  failure(): string | null
  stop(): Promise<void>
}

/** Starts again whenever polling ends. */
export function startPolling({
  connection: target,
  client,
  namespace,
  taskQueue,
  workflowBundle,
  activities,
  clock,
  log,
}: PollingOptions): Polling {
  const stopping = new AbortController()
  let workers: Worker[] = []
  let failure: string | null = null
  let isReady: () => void = () => {}
  const ready = new Promise<void>((resolve) => {
    isReady = resolve
  })

  const pollOnce = async (): Promise<void> => {
    const connection = await NativeConnection.connect(target)
    try {
      // A worker for a nonexistent namespace leaves its threads behind, so the namespace is checked first.
      await requireNamespace(client, namespace)
      const implementations = await activities()
      const shared = { connection, namespace, shutdownGraceTime: '30 s' } as const
      const clockChanged = clock.changed()
      if (stopping.signal.aborted || !clock.agrees()) return
      workers = [
        await Worker.create({
          ...shared,
          taskQueue,
          workflowBundle,
          activities: implementations,
          maxCachedWorkflows: CACHED_WORKFLOWS,
          maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
          maxConcurrentWorkflowTaskPolls: 5,
          maxConcurrentLocalActivityExecutions: WORKFLOW_TASKS,
        }),
        await Worker.create({
          ...shared,
          taskQueue: `${taskQueue}${GATEWAY_QUEUE_SUFFIX}`,
          activities: implementations,
          maxConcurrentActivityTaskExecutions: GATEWAY_CALLS,
        }),
        await Worker.create({
          ...shared,
          taskQueue: `${taskQueue}${HTTP_QUEUE_SUFFIX}`,
          activities: implementations,
          maxConcurrentActivityTaskExecutions: RETRIES,
        }),
      ]
      failure = null
      isReady()
      const started = workers
      const running = started.map((worker) => worker.run().finally(() => shutDownAll(started)))
      if (stopping.signal.aborted) shutDownAll(started)
      void clockChanged.then(() => shutDownAll(started))
      await Promise.all(running)
    } finally {
      workers = []
      await connection.close().catch(() => {})
    }
  }

  const run = async (): Promise<void> => {
    let loggedReason = ''
    while (!stopping.signal.aborted) {
      if (!clock.agrees()) {
        await Promise.race([clock.changed(), once(stopping.signal, 'abort')])
        continue
      }
      try {
        await pollOnce()
        loggedReason = ''
      } catch (error) {
        failure = Error.isError(error) ? error.message : String(error)
        // Logged once for each reason, not for each attempt.
        if (String(error) !== loggedReason)
          log.warn({ err: error }, 'cannot poll Temporal; trying every second')
        loggedReason = String(error)
      }
      await delay(1_000, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
  const finished = run()
  return {
    ready,
    failure: () => failure,
    async stop() {
      stopping.abort()
      shutDownAll(workers)
      await finished
    },
  }
}

async function requireNamespace(client: Client, namespace: string): Promise<void> {
  try {
    await client.workflowService.describeNamespace({ namespace })
  } catch (error) {
    if (!isGrpcServiceError(error) || error.code !== NOT_FOUND) throw error
    throw new Error(
      `the namespace ${namespace} does not exist; deploy/temporal/create-namespace.sh creates it`,
      { cause: error },
    )
  }
}

/** A status of gRPC. */
const NOT_FOUND = 5

function shutDownAll(workers: readonly Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown()
}
