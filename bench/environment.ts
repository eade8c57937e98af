import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createOrganization } from '../commands/access/create-organization.ts'
import { type Database, openDatabase } from '../db/open.ts'
import { migrate } from '../db/orm.ts'
import { inUnitOfWork, type UnitOfWork } from '../db/unit-of-work.ts'
import { freePort } from '../dev/services/ports.ts'
import { processFacts } from '../dev/services/processes.ts'
import { startLocalServices } from '../dev/services/start-services.ts'
import { startTemporal } from '../dev/services/temporal.ts'
import { apiClient } from '../test/support/api-client.ts'
import { type Catalogue, makeCatalogue, orderBody } from '../test/support/catalogue.ts'
import { type Helper, startHelper } from './helper.ts'
import type { LoadCalls } from './processes/load.ts'
import type { ReceiverCalls } from './processes/receiver.ts'
import type { StripeServerCalls } from './processes/stripe-server.ts'
import { childrenMeter, cpuSeconds, type Program, startProgram } from './program.ts'
import type { Teardown } from './teardown.ts'

export interface Environment {
  readonly databaseUrl: string
  readonly temporalAddress: string
  readonly namespace: string
  readonly port: number
  readonly api: Program
  readonly temporal: {
    pid(): Promise<number>
    /** Sends SIGKILL and starts it again on the same data. Resolves when it accepts work. */
    killAndStart(): Promise<void>
  }
  readonly vault: Database['vault']
  readonly installation: Database['installation']
  /** Its only webhook points to the receiver and gets every event. */
  readonly merchant: Catalogue
  readonly load: Helper<LoadCalls>
  readonly receiver: Helper<ReceiverCalls>
  readonly receiverUrl: string
  /** What API and worker take for Stripe. */
  readonly provider: Helper<StripeServerCalls>
  readonly providerPort: number
  startWorker(): Promise<Program>
  /** Starts another API beside the first, on the same database and on a port of its own. */
  startOtherApi(script: string): Promise<{ readonly program: Program; readonly port: number }>
  /** Creates another organization with what an order needs, without a webhook. */
  organization(id: string): Promise<Catalogue>
  placeOrder(): Promise<string>
  /** CPU seconds of all sessions of the database server; null if the system does not report them. */
  databaseCpu(): number | null
  command<T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T>
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
  /** Returns the milliseconds until the worker has drained its work. */
  drained(timeout: number): Promise<number>
  /** Resolves when worker and Temporal are idle, by their CPU use. */
  idle(worker: Program, timeout: number): Promise<void>
  /** Returns the milliseconds until the condition, an SQL expression, is false. */
  untilNot(condition: string, timeout: number): Promise<number>
  recorded(timeout: number): Promise<number>
}

export interface EnvironmentOptions {
  /** An existing directory that other users may enter. */
  readonly directory: string
  readonly say: (line: string) => void
  readonly signal: AbortSignal
  /** Where API and worker write their CPU profiles when they end; null for none. */
  readonly profiles: string | null
}

const NAMESPACE = 'billing-bench'
const ORGANIZATION = 'org_bench'
const YEAR = 365 * 24 * 3_600_000

export async function startEnvironment(
  options: EnvironmentOptions,
  teardown: Teardown,
): Promise<Environment> {
  const { directory, say, signal, profiles } = options
  const temporalPort = await freePort()
  const dataDir = join(directory, 'engines')
  const starting = startLocalServices({
    dataDir,
    // Started separately, so that a scenario can kill it.
    temporalAddress: `127.0.0.1:${temporalPort}`,
    temporalNamespace: NAMESPACE,
    temporalPort,
    temporalUiPort: null,
    log: say,
    signal,
  })
  teardown.add(async () => (await starting.catch(() => null))?.stop())
  const { databaseUrl, temporalAddress } = await starting
  const startTemporalServer = () =>
    startTemporal({
      dataDir: join(dataDir, 'temporal'),
      postgresUrl: databaseUrl,
      namespace: NAMESPACE,
      port: temporalPort,
      uiPort: null,
      log: say,
      signal,
    })
  let temporal = startTemporalServer()
  teardown.add(async () => (await temporal.catch(() => null))?.stop())
  await temporal
  await migrate(databaseUrl)

  const masterKey = randomBytes(32).toString('base64')
  const port = await freePort()
  const baseUrl = `http://127.0.0.1:${port}`
  const provider = startHelper<StripeServerCalls>('stripe-server.ts', teardown)
  const providerPort = await provider.call('listen', null, 10_000)
  const logs = join(directory, 'logs')
  mkdirSync(logs)
  const startService = (name: string, script = `${name}/main.ts`, servicePort = port): Promise<Program> =>
    startProgram(
      {
        script,
        env: {
          PATH: process.env.PATH,
          DATABASE_URL: databaseUrl,
          MASTER_KEY: masterKey,
          TEMPORAL_ADDRESS: temporalAddress,
          TEMPORAL_NAMESPACE: NAMESPACE,
          WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
          BASE_URL: baseUrl,
          PORT: String(servicePort),
          SHUTDOWN_DELAY_SECONDS: '0',
          OPS_PORT: '0',
          LOG_LEVEL: 'info',
          RATE_LIMIT: '1000000000',
          STRIPE_API_URL: `http://127.0.0.1:${providerPort}`,
        },
        logFile: join(logs, `${name}.log`),
        readyWithin: 60_000,
        nodeArguments:
          profiles === null
            ? []
            : [
                '--cpu-prof',
                `--cpu-prof-dir=${profiles}`,
                `--cpu-prof-name=${name}-${Date.now()}.cpuprofile`,
              ],
      },
      teardown,
    )
  const api = await startService('api')

  const receiver = startHelper<ReceiverCalls>('receiver.ts', teardown)
  const receiverUrl = await receiver.call('listen', null, 5_000)
  const database = await openDatabase({ databaseUrl, masterKeys: [masterKey], poolSize: 2 })
  teardown.add(() => database.orm.close())
  const command = <T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> =>
    inUnitOfWork(database.orm.em.fork(), { organizationId: ORGANIZATION, baseUrl, now: new Date() }, work)
  const merchant = await makeMerchant(database, command, baseUrl, receiverUrl)
  const query = new pg.Client({ connectionString: databaseUrl })
  query.on('error', () => {}) // a lost connection fails the next query
  await query.connect()
  teardown.add(() => query.end())
  const backend = await query.query<{ pid: number }>('select pg_backend_pid() as pid')
  const postmaster = processFacts(backend.rows[0]?.pid ?? 0)?.parent
  const untilNone = async (what: string, condition: string, timeout: number): Promise<number> => {
    const started = performance.now()
    for (;;) {
      const asked = performance.now()
      const { rows } = await query.query<{ left: boolean }>(`select ${condition} as left`)
      const waited = performance.now() - started
      const cost = performance.now() - asked
      if (rows[0]?.left === false) return waited
      if (waited > timeout) throw new Error(`waited ${timeout} ms without success for ${what}`)
      await delay(Math.max(10, cost * 20))
    }
  }

  return {
    databaseUrl,
    temporalAddress,
    namespace: NAMESPACE,
    port,
    api,
    temporal: {
      pid: async () => (await temporal).pid,
      async killAndStart() {
        await (await temporal).kill()
        temporal = startTemporalServer()
        await temporal
      },
    },
    vault: database.vault,
    installation: database.installation,
    query: async <Row extends object>(text: string, values: unknown[] = []) =>
      (await query.query(text, values)).rows as Row[],
    merchant,
    load: startHelper<LoadCalls>('load.ts', teardown),
    receiver,
    receiverUrl,
    provider,
    providerPort,
    startWorker: () => startService('worker'),
    async startOtherApi(script) {
      const otherPort = await freePort()
      return { program: await startService('other-api', script, otherPort), port: otherPort }
    },
    async organization(id) {
      const tenant = { organizationId: id, baseUrl, now: new Date() }
      const keys = await inUnitOfWork(database.orm.em.fork(), tenant, (unit) =>
        createOrganization(unit, { ...database, environment: 'sandbox' }, { name: id }),
      )
      return await makeCatalogue(
        { ...keys, api: apiClient(baseUrl, id, { 'SVC-APIKEY': keys.secretKey }) },
        {},
      )
    },
    async placeOrder() {
      const startTime = new Date(Date.now() + YEAR).toISOString()
      const response = await merchant.api.post('subscriptions', orderBody(merchant, { startTime }))
      if (response.status !== 201) throw new Error(`an order was refused: ${JSON.stringify(response.body)}`)
      return String(response.body.id)
    },
    databaseCpu: postmaster === undefined ? () => null : childrenMeter(postmaster),
    command,
    async idle(worker, timeout) {
      const used = async (): Promise<number> =>
        (cpuSeconds((await temporal).pid) ?? 0) + (cpuSeconds(worker.pid) ?? 0)
      const until = performance.now() + timeout
      for (let before = await used(); ; ) {
        await delay(1_000)
        const now = await used()
        if (now - before < 0.15) return
        if (performance.now() > until) throw new Error('worker and Temporal did not come to rest')
        before = now
      }
    },
    untilNot: (condition, timeout) => untilNone(condition, condition, timeout),
    drained: (timeout) =>
      untilNone(
        'the worker to have nothing left to do',
        `exists (select from wake_ups) or exists (select from deliveries where status = 'waiting')
           or exists (select from subscriptions where status = 'pending' and start_time <= now())`,
        timeout,
      ),
    recorded: (timeout) =>
      untilNone(
        'the outcomes of all deliveries',
        `exists (select from deliveries where status = 'waiting')`,
        timeout,
      ),
  }
}

async function makeMerchant(
  database: Database,
  command: Environment['command'],
  baseUrl: string,
  webhook: string,
): Promise<Catalogue> {
  const keys = await command((unit) =>
    createOrganization(unit, { ...database, environment: 'sandbox' }, { name: 'Benchmark' }),
  )
  const api = apiClient(baseUrl, ORGANIZATION, { 'SVC-APIKEY': keys.secretKey })
  return await makeCatalogue({ ...keys, api }, { webhook })
}
