/** What `npm start` holds in memory once 25,000 records wait for far deadlines. */
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { freePort } from '../../dev/services/ports.ts'
import { childrenOf, isRunning, processFacts, stopProcess } from '../../dev/services/processes.ts'
import { type ApiClient, apiClient } from '../../test/support/api-client.ts'
import { tokenBody } from '../../test/support/tokens.ts'
import type { Metric } from '../metric.ts'
import { cpuSeconds } from '../program.ts'
import type { ScenarioContext } from './scenario.ts'
import { withoutSettings } from './start.ts'

const ORDERS = 15_000
const TOKENS = 5_000
const CUSTOMERS = 5_000
const CLIENTS = 20
const YEAR = 365 * 24 * 3_600_000
const READY_WITHIN = 1_200_000
const TIMEOUT = 900_000
/** Megabytes. */
const WANTED = 1_200

export async function memory(context: ScenarioContext): Promise<Metric[]> {
  const { endEnvironment, divisor, say } = context
  await endEnvironment()
  const service = await startService(context)
  const atRest = partsOf(service.pid)
  const total = (of: Parts): number => Object.values(of).reduce((sum, megabytes) => sum + megabytes, 0)
  say(`memory: ${described(atRest)} before the first record`)
  const { variables } = service
  const api = apiClient(service.baseUrl, variables.ORG ?? '', {
    'SVC-APIKEY': variables.KEY ?? '',
  })
  const startTime = new Date(Date.now() + YEAR).toISOString()
  const order = {
    orderType: 'subscription-order',
    customerId: variables.CUSTOMER,
    websiteId: variables.WEBSITE,
    items: [{ plan: { id: variables.PLAN } }],
    startTime,
  }
  const began = performance.now()
  await create(ORDERS / divisor, () => api.post('subscriptions', order))
  await create(TOKENS / divisor, () => api.post('tokens', tokenBody()))
  await create(CUSTOMERS / divisor, () =>
    api.post('customers', { firstName: 'Ada', email: 'ada@example.com' }),
  )
  say(`memory: records made in ${Math.round((performance.now() - began) / 1_000)} s`)
  await idle(service)
  const after = partsOf(service.pid)
  const sessions = await service.query<{ sessions: number }>(
    `select count(*)::int as sessions from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
  )
  const disk = await service.query<{ name: string; megabytes: number }>(
    `select datname as name, pg_database_size(oid) / 1048576.0 as megabytes from pg_database where not datistemplate`,
  )
  say(`memory: ${described(after)}; ${sessions[0]?.sessions} sessions`)
  await service.stop()
  return [
    {
      what: `memory of npm start with ${(ORDERS + TOKENS + CUSTOMERS) / divisor} records`,
      unit: 'MB',
      service: [total(after)],
      baseline: [],
      aim: null,
      beside: {
        ...Object.fromEntries(Object.entries(after).map(([name, megabytes]) => [`${name} MB`, megabytes])),
        'before the first record MB': total(atRest),
        'database sessions': sessions[0]?.sessions ?? null,
        ...Object.fromEntries(disk.map(({ name, megabytes }) => [`${name} on disk MB`, Number(megabytes)])),
        'wanted at most MB': WANTED,
      },
      note: `${ORDERS / divisor} orders that start in a year, ${TOKENS / divisor} tokens, ${CUSTOMERS / divisor} customers; read when wake-ups are gone and nothing uses the cores. The sum of the proportional set sizes (Pss of /proc/*/smaps_rollup) of npm and everything that descends from it: a shared page, such as PostgreSQL's buffers, counts once. The system's cache of files is not in it.`,
    },
  ]
}

type Parts = Readonly<Record<string, number>>

interface Service {
  readonly pid: number
  readonly baseUrl: string
  readonly variables: Readonly<Record<string, string>>
  query<Row extends object>(text: string): Promise<Row[]>
  stop(): Promise<void>
}

async function startService({ directory, teardown }: ScenarioContext): Promise<Service> {
  const dataDir = join(directory, 'data')
  mkdirSync(dataDir, { recursive: true })
  const logFile = join(directory, 'start.log')
  const output = openSync(logFile, 'w')
  const port = await freePort()
  const child = spawn('npm', ['start'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['ignore', output, output],
    env: {
      ...withoutSettings(process.env),
      DATA_DIR: dataDir,
      PORT: String(port),
      OPS_PORT: String(await freePort()),
      LOCAL_TEMPORAL_PORT: String(await freePort()),
      LOCAL_TEMPORAL_UI_PORT: String(await freePort()),
      RATE_LIMIT: '1000000000',
      LOG_LEVEL: 'warn',
    },
  })
  closeSync(output)
  const { pid } = child
  if (pid === undefined) throw new Error('npm could not be started')
  const stop = async (): Promise<void> => {
    await stopProcess(pid, [{ signal: 'SIGTERM', wait: 90_000 }])
  }
  teardown.add(stop)
  const until = performance.now() + READY_WITHIN
  const printed = () => readFileSync(logFile, 'utf8')
  while (!/^ready /m.test(printed())) {
    if (!isRunning(pid) || performance.now() > until)
      throw new Error(`npm start did not get ready:\n${printed()}`)
    await delay(50)
  }
  const [line = ''] = /^export .*$/m.exec(printed()) ?? []
  const variables = Object.fromEntries(
    [...line.matchAll(/(\w+)='([^']*)'/g)].map(([, name = '', value = '']) => [name, value]),
  )
  const read = (name: string): string => readFileSync(join(dataDir, 'postgres', name), 'utf8').trim()
  const database = new pg.Client({
    connectionString: `postgres://postgres:${read('password')}@127.0.0.1:${read('port')}/billing`,
  })
  database.on('error', () => {}) // a lost connection fails the next query
  await database.connect()
  return {
    pid,
    baseUrl: `http://127.0.0.1:${port}`,
    variables,
    query: async <Row extends object>(text: string) => (await database.query(text)).rows as Row[],
    async stop() {
      await database.end()
      await stop()
    },
  }
}

async function create(count: number, one: () => ReturnType<ApiClient['post']>): Promise<void> {
  let left = count
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      const { status, body } = await one()
      if (status !== 201) throw new Error(`a record was refused: ${JSON.stringify(body)}`)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
}

/** Resolves when no wake-up waits and all processes together use less than a tenth of a core. */
async function idle({ pid, query }: Service): Promise<void> {
  const until = performance.now() + TIMEOUT
  const used = () => descendants(pid).reduce((sum, one) => sum + (cpuSeconds(one) ?? 0), 0)
  for (let before = used(); ; ) {
    await delay(5_000)
    const now = used()
    const [row] = await query<{ waiting: boolean }>('select exists (select from wake_ups) as waiting')
    if (row?.waiting === false && now - before < 0.5) return
    if (performance.now() > until) throw new Error('the service did not come to rest')
    before = now
  }
}

function descendants(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(descendants)]
}

function partsOf(npm: number): Parts {
  const sums: Record<string, number> = {}
  for (const pid of descendants(npm)) {
    const name = partOf(pid)
    sums[name] = (sums[name] ?? 0) + proportionalMegabytes(pid)
  }
  return sums
}

function partOf(pid: number): string {
  const { command = '' } = processFacts(pid) ?? {}
  if (command.includes('dev/start.ts')) return 'API and worker'
  if (/^postgres:|\/postgres -D/.test(command)) return 'PostgreSQL'
  if (command.includes('temporal-ui') || command.includes('--config ui')) return 'Temporal UI'
  if (command.includes('temporal')) return 'Temporal'
  return 'npm and guards'
}

/** Pages that n processes share count as an nth. */
function proportionalMegabytes(pid: number): number {
  try {
    const [, kilobytes] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? []
    return Number(kilobytes ?? 0) / 1024
  } catch (error) {
    if (process.platform !== 'linux') throw new Error('memory is measured on Linux alone', { cause: error })
    return 0 // ended meanwhile
  }
}

function described(of: Parts): string {
  return Object.entries(of)
    .map(([name, megabytes]) => `${name} ${Math.round(megabytes)} MB`)
    .join(', ')
}
