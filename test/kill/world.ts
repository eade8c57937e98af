/** A whole service on engines of its own, every part of which a test may kill. */
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import pg from 'pg'
import { createOrganization } from '../../db/commands/create-organization.ts'
import { type Database, openDatabase } from '../../db/open.ts'
import { migrate } from '../../db/orm.ts'
import { inUnitOfWork } from '../../db/unit-of-work.ts'
import { freePort } from '../../dev/engines/ports.ts'
import { startPostgres } from '../../dev/engines/postgres.ts'
import { startTemporal } from '../../dev/engines/temporal.ts'
import { apiClient } from '../rig/api-client.ts'
import { type Catalogue, makeCatalogue } from '../rig/catalogue.ts'
import { serviceProcess } from '../rig/processes.ts'
import { waitFor } from '../rig/wait-for.ts'

const NAMESPACE = 'billing-kill'

export interface Victim {
  kill(): Promise<void>
  start(): Promise<void>
}

export interface World {
  readonly baseUrl: string
  readonly databaseUrl: string
  readonly victims: readonly Victim[]
  /** A new organization with what an order needs, and a webhook to `url`. */
  merchant(organizationId: string, url: string): Promise<Catalogue>
  query(): Promise<pg.Client>
  /** A client of the engine, which comes and goes with it. */
  readonly temporal: Client
  stop(): Promise<void>
}

/** Engines and processes of the test's own, each of which can be killed. `masterKey` is of the service's vault. */
export async function startWorld(dataDir: string, masterKey: string): Promise<World> {
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
  const startEngine = () =>
    startTemporal({
      dataDir: temporalDir,
      postgresUrl: url,
      port: temporalPort,
      uiPort: null,
      namespace: NAMESPACE,
    })
  let temporal = await startEngine()

  const port = await freePort()
  const baseUrl = `http://127.0.0.1:${port}`
  const env = {
    DATABASE_URL: databaseUrl,
    MASTER_KEY: masterKey,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: NAMESPACE,
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    BASE_URL: baseUrl,
    PORT: String(port),
    OPS_PORT: '0',
    LOG_LEVEL: 'warn',
  }
  const api = serviceProcess('api/main.ts', env, join(dataDir, 'api.log'))
  const worker = serviceProcess('worker/main.ts', env, join(dataDir, 'worker.log'))
  const connection = Connection.lazy({ address: temporal.address })
  const stopAll = async (): Promise<void> => {
    await connection.close()
    await Promise.all([api.stop(), worker.stop()])
    await temporal.stop()
    await postgres.stop()
  }
  await Promise.all([api.start(), worker.start()]).catch(async (error: unknown) => {
    await stopAll()
    throw error
  })

  return {
    baseUrl,
    databaseUrl,
    victims: [
      api,
      worker,
      {
        kill: () => temporal.kill(),
        async start() {
          temporal = await startEngine()
        },
      },
      {
        kill: () => postgres.kill(),
        async start() {
          postgres = await startPostgres({ dataDir: postgresDir, port: postgresPort })
        },
      },
    ],
    async merchant(organizationId, receiverUrl) {
      const database: Database = await openDatabase({ databaseUrl, masterKeys: [masterKey], poolSize: 1 })
      const tenant = { organizationId, baseUrl, now: new Date() }
      const keys = await inUnitOfWork(database.orm.em.fork(), tenant, (unit) =>
        createOrganization(unit, { ...database, environment: 'sandbox' }, { name: organizationId }),
      ).finally(() => database.orm.close())
      const client = apiClient(baseUrl, organizationId, { 'SVC-APIKEY': keys.secretKey })
      return await makeCatalogue({ ...keys, api: client }, { webhook: receiverUrl })
    },
    async query() {
      const client = new pg.Client({ connectionString: databaseUrl })
      client.on('error', () => {}) // its server was killed; the next call says so
      await client.connect()
      return client
    },
    temporal: new Client({ connection, namespace: NAMESPACE }),
    stop: stopAll,
  }
}

/** Kills every part once, each at a random moment of the next `within` milliseconds; resolves when all are back. */
export async function killEverything(
  { victims }: World,
  random: () => number,
  within: number,
): Promise<void> {
  await Promise.all(
    victims.map(async (victim) => {
      await delay(random() * within)
      await victim.kill()
      await delay(random() * 1_000)
      // As a supervisor does: what cannot start, because another part is still down, is started again.
      await waitFor('a killed part to be back', () => victim.start().then(yes, no), 60_000)
    }),
  )
}

/** Asks until the answer comes, whatever part is down meanwhile. */
export async function stubborn<T>(what: string, ask: () => Promise<T>, patience = 120_000): Promise<T> {
  const answer = await waitFor(what, () => ask().then((value) => ({ value }), no), patience)
  return answer.value
}

export async function rows<T>(client: pg.Client, text: string, values: unknown[]): Promise<T[]> {
  return (await client.query(text, values)).rows as T[]
}

const yes = () => true as const
const no = () => null

export const delay = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))
