/** A service with its own local services, two APIs and two workers, each part of which a test may kill. */
import { randomBytes, randomUUID } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import pg from 'pg'
import { createOrganization } from '../../commands/access/create-organization.ts'
import { type Database, openDatabase } from '../../db/open.ts'
import { migrate } from '../../db/orm.ts'
import { inUnitOfWork } from '../../db/unit-of-work.ts'
import { freePort } from '../../dev/services/ports.ts'
import { startPostgres } from '../../dev/services/postgres.ts'
import { startTemporal } from '../../dev/services/temporal.ts'
import { type ApiClient, type ApiResponse, apiClient } from '../support/api-client.ts'
import { type Catalogue, makeCatalogue } from '../support/catalogue.ts'
import { type Forward, forward } from '../support/forward.ts'
import { type ServiceProcess, serviceProcess } from '../support/processes.ts'
import { waitFor } from '../support/wait-for.ts'

const NAMESPACE = 'billing-kill'
/** How long the merchant waits for an API before asking the other one. Milliseconds. */
const CLIENT_TIMEOUT = 5_000
/** After it a start of Temporal is given up, and tried again. Milliseconds. */
const START_TIMEOUT = 60_000

export interface Victim {
  kill(): Promise<void>
  start(): Promise<void>
}

export interface Process extends ServiceProcess {
  readonly opsPort: number
}

export interface Merchant extends Catalogue {
  /** How often a request was repeated because no response came or a part was down. */
  repeated(): number
}

export interface Environment {
  readonly baseUrl: string
  readonly databaseUrl: string
  readonly env: Readonly<Record<string, string>>
  readonly apis: readonly [Process, Process]
  readonly workers: readonly [Process, Process]
  readonly temporalServer: Victim
  /** What the second worker reaches PostgreSQL through. */
  readonly database: Forward
  readonly victims: readonly Victim[]
  /** Its client takes the APIs in turn and repeats a request under its Idempotency-Key until a response. */
  merchant(organizationId: string, url: string): Promise<Merchant>
  query(): Promise<pg.Client>
  readonly temporal: Client
  /** Starts again, as a supervisor does, every process that has ended. */
  revive(): Promise<void>
  stop(): Promise<void>
}

/** @param settings besides those that every process has. */
export async function startEnvironment(
  settings: Readonly<Record<string, string>> = {},
): Promise<Environment> {
  const dataDir = mkdtempSync(join(tmpdir(), 'billing-kill-'))
  chmodSync(dataDir, 0o755)
  const masterKey = randomBytes(32).toString('base64')
  const postgresDir = join(dataDir, 'postgres')
  const temporalDir = join(dataDir, 'temporal')
  let postgres = await startPostgres({ dataDir: postgresDir })
  const { port: postgresPort, url } = postgres
  const databaseUrl = new URL('/billing', url).href
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  await admin.query('create database billing')
  await admin.end()
  await migrate(databaseUrl)

  const temporalPort = await freePort()
  const startTemporalServer = () =>
    startTemporal({
      dataDir: temporalDir,
      postgresUrl: url,
      port: temporalPort,
      uiPort: null,
      namespace: NAMESPACE,
      signal: AbortSignal.timeout(START_TIMEOUT),
    })
  let temporal = await startTemporalServer()
  const { address: temporalAddress } = temporal

  const ports = [await freePort(), await freePort()] as const
  const bridgePort = await freePort()
  const bridge = await forward(bridgePort, `127.0.0.1:${postgresPort}`)
  const bridgedUrl = new URL(databaseUrl)
  bridgedUrl.hostname = '127.0.0.1'
  bridgedUrl.port = String(bridgePort)
  const baseUrl = `http://127.0.0.1:${ports[0]}`
  const env = {
    DATABASE_URL: databaseUrl,
    MASTER_KEY: masterKey,
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: NAMESPACE,
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    RATE_LIMIT: '1000000',
    BASE_URL: baseUrl,
    LOG_LEVEL: 'warn',
    ...settings,
  }
  const startable = async (main: string, name: string, members: Readonly<Record<string, string>>) => {
    const opsPort = await freePort()
    const own = { ...env, OPS_PORT: String(opsPort), ...members }
    return Object.assign(serviceProcess(main, own, join(dataDir, `${name}.log`)), { opsPort })
  }
  const apis = [
    await startable('api/main.ts', 'api-1', { PORT: String(ports[0]) }),
    await startable('api/main.ts', 'api-2', { PORT: String(ports[1]) }),
  ] as const
  const workers = [
    await startable('worker/main.ts', 'worker-1', {}),
    await startable('worker/main.ts', 'worker-2', { DATABASE_URL: bridgedUrl.href }),
  ] as const
  const processes = [...apis, ...workers]
  const connection = Connection.lazy({ address: temporalAddress })
  const stopAll = async (): Promise<void> => {
    await connection.close()
    bridge.heal()
    await Promise.all(processes.map((one) => one.stop()))
    await bridge.close()
    await temporal.stop()
    await postgres.stop()
    if (process.env.KILL_KEEP === undefined) rmSync(dataDir, { recursive: true, force: true })
    else console.log(`kept ${dataDir}`)
  }
  await Promise.all(processes.map((one) => one.start())).catch(async (error: unknown) => {
    await stopAll()
    throw error
  })

  const temporalServer: Victim = {
    kill: () => temporal.kill(),
    async start() {
      temporal = await startTemporalServer()
      if (temporal.address === temporalAddress) return
      // Another process had the port, and Temporal took the next one, where nobody looks for it.
      await temporal.stop()
      throw new Error(`Temporal came back at ${temporal.address} instead of ${temporalAddress}`)
    },
  }
  return {
    baseUrl,
    databaseUrl,
    env,
    apis,
    workers,
    temporalServer,
    database: bridge,
    victims: [
      ...processes,
      temporalServer,
      {
        kill: () => postgres.kill(),
        async start() {
          postgres = await startPostgres({ dataDir: postgresDir, port: postgresPort })
        },
      },
    ],
    async merchant(organizationId, receiverUrl) {
      const database: Database = await stubborn('the database', () =>
        openDatabase({ databaseUrl, masterKeys: [masterKey], poolSize: 1 }),
      )
      const tenant = { organizationId, baseUrl, now: new Date() }
      const keys = await inUnitOfWork(database.orm.em.fork(), tenant, (unit) =>
        createOrganization(unit, { ...database, environment: 'sandbox' }, { name: organizationId }),
      ).finally(() => database.orm.close())
      const clients = ports.map((port) =>
        apiClient(`http://127.0.0.1:${port}`, organizationId, { 'SVC-APIKEY': keys.secretKey }),
      )
      const { api, repeated } = eitherOf(clients)
      return { ...(await makeCatalogue({ ...keys, api }, { webhook: receiverUrl })), repeated }
    },
    async query() {
      const client = new pg.Client({ connectionString: databaseUrl })
      client.on('error', () => {}) // its server was killed; the next call says so
      await client.connect()
      return client
    },
    temporal: new Client({ connection, namespace: NAMESPACE }),
    async revive() {
      await Promise.all(processes.filter((one) => !one.isRunning()).map((one) => one.start()))
    },
    stop: stopAll,
  }
}

function eitherOf(clients: readonly ApiClient[]): { api: ApiClient; repeated: () => number } {
  let turn = 0
  let repeated = 0
  const send = async <T>(method: string, path: string, init: RequestInit = {}): Promise<ApiResponse<T>> => {
    const headers = new Headers(init.headers)
    if (method === 'POST') headers.set('Idempotency-Key', randomUUID())
    for (;;) {
      const client = clients[turn % clients.length]
      turn += 1
      if (client === undefined) throw new Error('no client')
      const response = await client
        .send<T>(method, path, { ...init, headers, signal: AbortSignal.timeout(CLIENT_TIMEOUT) })
        .catch((error: unknown) => {
          if (isConnectionError(error)) return null
          throw error
        })
      if (response !== null && !isToBeRepeated(response)) return response
      repeated += 1
      await delay(100)
    }
  }
  const sendJson = <T>(method: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
    send<T>(method, path, {
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', ...headers },
    })
  return {
    repeated: () => repeated,
    api: {
      send,
      get: (path, headers = {}) => send('GET', path, { headers }),
      post: (path, body, headers) => sendJson('POST', path, body, headers),
      put: (path, body, headers) => sendJson('PUT', path, body, headers),
      delete: (path, headers = {}) => send('DELETE', path, { headers }),
    },
  }
}

function isConnectionError(error: unknown): boolean {
  if (!Error.isError(error)) return false
  return error.name === 'TimeoutError' || ['fetch failed', 'terminated'].includes(error.message)
}

/** A part may be down, or the first request with the key is in progress, for example in a paused process. */
function isToBeRepeated({ status, body }: ApiResponse<unknown>): boolean {
  return [502, 503].includes(status) || (status === 409 && JSON.stringify(body).includes('still in progress'))
}

/** Kills every part at a random moment of the next `within` milliseconds; resolves when all are back, or rejects. */
export async function killEverything(
  { victims }: Environment,
  random: () => number,
  within: number,
): Promise<void> {
  await Promise.all(
    victims.map(async (victim) => {
      await delay(random() * within)
      await victim.kill()
      await delay(random() * 1_000)
      // What cannot start, because another part is still down, is started again.
      await stubborn('a killed part to be back', () => victim.start())
    }),
  )
}

/** Repeats until a result comes, whatever part is down meanwhile. @throws Error with the last failure as its cause. */
export async function stubborn<T>(what: string, ask: () => Promise<T>, timeout = 120_000): Promise<T> {
  let last: unknown = null
  const failed = (error: unknown) => {
    last = error
    return null
  }
  try {
    const response = await waitFor(what, () => ask().then((value) => ({ value }), failed), timeout)
    return response.value
  } catch (error) {
    throw new Error(`${(error as Error).message}; the last failure: ${last}`, { cause: last })
  }
}

export async function rows<T>(client: pg.Client, text: string, values: unknown[]): Promise<T[]> {
  return (await client.query(text, values)).rows as T[]
}

export const delay = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))
