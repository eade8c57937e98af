/** The service for one test file: its own database, a real API on a free port, a real worker if wanted. */

import { randomBytes } from 'node:crypto'
import { Client, Connection } from '@temporalio/client'
import pg from 'pg'
import type { Logger } from 'pino'
import { ulid } from 'ulid'
import { startApi } from '../../api/api.ts'
import { createOrganization, type OrganizationKeys } from '../../commands/access/create-organization.ts'
import { type Config, loadConfig, type StripeHost } from '../../config/config.ts'
import { createLog } from '../../config/log.ts'
import { readMerchantIdentity } from '../../config/merchant-identity.ts'
import { TIMEOUTS, type Timeouts } from '../../db/connection.ts'
import { type Database, openApiDatabase, openDatabase } from '../../db/open.ts'
import { databaseChecks } from '../../db/readiness.ts'
import { type ApiAccess, rowSecurityCheck } from '../../db/row-security.ts'
import { inUnitOfWork } from '../../db/unit-of-work.ts'
import { ensureSigningKey } from '../../delivery/signing-keys.ts'
import { freePort } from '../../dev/services/ports.ts'
import { createMetrics, type Metrics } from '../../ops/metrics.ts'
import { createReadiness } from '../../ops/readiness.ts'
import type { ApplePayConnection } from '../../wallets/apple-pay.ts'
import { installTemporalRuntime } from '../../worker/temporal.ts'
import { startWorker } from '../../worker/worker.ts'
import { taskQueue } from '../../workflows/contract.ts'
import { type ApiClient, apiClient } from './api-client.ts'
import { requireNoCardData, tablesWithCardData } from './card-data.ts'
import { eventProblems } from './event-shapes.ts'
import { closed, opened } from './open-things.ts'
import { testServices } from './services.ts'

export interface TestService {
  readonly baseUrl: string
  readonly databaseUrl: string
  /** For work on all organizations, as the worker's. */
  readonly database: Database
  /** Restricted to the organization in scope. */
  readonly apiDatabase: Database & { readonly access: ApiAccess }
  readonly log: readonly string[]
  readonly temporal: Client
  readonly metrics: Metrics
  readonly taskQueue: string
  /** A new organization with its keys, and a client that uses the secret one. */
  organization(id?: string): Promise<OrganizationKeys & { readonly api: ApiClient }>
  startWorker(): void
  stopWorker(): Promise<void>
  stop(): Promise<void>
}

export interface ServiceOptions {
  /** Default true. */
  readonly worker?: boolean
  readonly settings?: Readonly<Record<string, string>>
  /** A migrated database that is the test's own; default a clone of the template. */
  readonly databaseUrl?: string
  /** True if the API is connected to no Temporal; the worker is. */
  readonly apiWithoutTemporal?: boolean
  readonly timeouts?: Timeouts
  /** Connections of the API; default 15. */
  readonly apiPoolSize?: number
  /** How long a client may leave a response unread, in milliseconds; default as in production. */
  readonly unreadTimeout?: number
  readonly stripeHost?: StripeHost
  readonly temporalAddress?: string
  readonly applePay?: ApplePayConnection
  /** The clock of the worker's machine. */
  readonly workerNow?: () => number
}

/** Milliseconds: two test files and their services share the cores. */
const CONNECT_TIMEOUT = 20_000

export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const services = testServices()
  const { stripeHost } = options
  const databaseUrl = options.databaseUrl ?? (await cloneTemplate())
  const port = await freePort()
  const config: Config = loadConfig({
    PORT: String(port),
    MASTER_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    TEMPORAL_NAMESPACE: services.namespace,
    ...(stripeHost === undefined
      ? {}
      : { STRIPE_API_URL: `${stripeHost.protocol}://${stripeHost.host}:${stripeHost.port}` }),
    ...options.settings,
  })
  const log: string[] = []
  const logger = createLog('debug', { write: (line) => void log.push(line) })
  const connections = {
    databaseUrl,
    masterKeys: config.masterKeys,
    poolSize: 15,
    connectTimeout: CONNECT_TIMEOUT,
    timeouts: options.timeouts ?? TIMEOUTS,
  }
  const database = await openDatabase(connections)
  const apiDatabase = await openApiDatabase({
    ...connections,
    poolSize: options.apiPoolSize ?? connections.poolSize,
  })
  await ensureSigningKey(database.orm.em.fork(), database.vault)
  const metrics = createMetrics()
  const address = options.temporalAddress ?? services.temporalAddress
  const temporal = options.apiWithoutTemporal === true ? null : { address }
  const readiness = createReadiness({
    stopping: new AbortController().signal,
    required: databaseChecks(apiDatabase.orm, Date.now),
    degrading: rowSecurityCheck(apiDatabase.access),
  })
  const api = await startApi(
    {
      config,
      ...apiDatabase,
      databaseUrl,
      temporal,
      readiness,
      metrics,
      log: logger,
      connectTimeout: CONNECT_TIMEOUT,
      ...(options.unreadTimeout === undefined ? {} : { unreadTimeout: options.unreadTimeout }),
      merchantIdentity: readMerchantIdentity(config),
      applePay: options.applePay,
    },
    config,
  )
  const connection = Connection.lazy({ address })
  const startOne = () => {
    installRuntimeOnce(logger)
    return startWorker({
      config,
      ...database,
      databaseUrl,
      temporal: { address },
      workflowBundle: { codePath: services.bundlePath },
      metrics,
      log: logger,
      ...(options.workerNow === undefined ? {} : { now: options.workerNow }),
    })
  }
  let worker = options.worker === false ? null : startOne()

  const service: TestService = {
    baseUrl: config.baseUrl,
    databaseUrl,
    database,
    apiDatabase,
    log,
    metrics,
    temporal: new Client({ connection, namespace: services.namespace }),
    taskQueue: taskQueue(database.installation.id),
    async organization(id = `org_${ulid()}`) {
      const tenant = { organizationId: id, baseUrl: config.baseUrl, now: new Date() }
      const keys = await inUnitOfWork(database.orm.em.fork(), tenant, (unit) =>
        createOrganization(unit, { ...database, environment: config.environment }, { name: id }),
      )
      return { ...keys, api: apiClient(config.baseUrl, id, { 'SVC-APIKEY': keys.secretKey }) }
    },
    startWorker() {
      worker ??= startOne()
    },
    async stopWorker() {
      const stopping = worker
      worker = null
      await stopping?.stop()
    },
    async stop() {
      await service.stopWorker()
      await api.stop()
      await connection.close()
      await apiDatabase.orm.close()
      await database.orm.close()
      requireNoCardData('the logs', log.join(''))
      const tables = await tablesWithCardData(databaseUrl)
      const misshapen = await eventProblems(databaseUrl)
      if (options.databaseUrl === undefined) await dropDatabase(databaseUrl)
      closed(service)
      if (tables.length > 0) throw new Error(`card data in the clear in ${tables.join(', ')}`)
      if (misshapen.length > 0) throw new Error(`events not as their types promise: ${misshapen.join('; ')}`)
    },
  }
  return opened(service, 'service')
}

let runtimeInstalled = false

function installRuntimeOnce(log: Logger): void {
  if (!runtimeInstalled) installTemporalRuntime(log)
  runtimeInstalled = true
}

async function cloneTemplate(): Promise<string> {
  const { adminUrl, templateName } = testServices()
  const name = `test_${ulid().toLowerCase()}`
  await admin((client) =>
    client.query(`create database ${name} template ${pg.escapeIdentifier(templateName)}`),
  )
  return new URL(`/${name}`, adminUrl).href
}

async function dropDatabase(databaseUrl: string): Promise<void> {
  const name = new URL(databaseUrl).pathname.slice(1)
  await admin((client) => client.query(`drop database ${pg.escapeIdentifier(name)} with (force)`))
}

async function admin(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: testServices().adminUrl })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
