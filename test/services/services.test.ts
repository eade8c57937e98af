import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import pg from 'pg'
import { freePort, nextFreePort, portIsFree } from '../../dev/services/ports.ts'
import { startPostgres } from '../../dev/services/postgres.ts'
import {
  childrenOf,
  isRunning,
  processFacts,
  sendSignal,
  waitUntilGone,
} from '../../dev/services/processes.ts'
import {
  type LocalServices,
  type LocalServicesConfig,
  startLocalServices,
} from '../../dev/services/start-services.ts'

const NAMESPACE = 'services-test'
const lines: string[] = []
let dataDir: string
let config: LocalServicesConfig
let services: LocalServices | undefined
let launcher: ChildProcess | undefined

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'billing-services-'))
  chmodSync(dataDir, 0o755)
  lines.length = 0
  config = {
    dataDir,
    temporalNamespace: NAMESPACE,
    temporalPort: await freePort(),
    temporalUiPort: await freePort(),
    log: (line) => lines.push(line),
  }
})

afterEach(async () => {
  launcher?.kill('SIGKILL')
  launcher = undefined
  await services?.stop()
  services = undefined
  for (const pid of servicePids()) sendSignal(pid, 'SIGKILL')
  rmSync(dataDir, { recursive: true, force: true })
})

test('a second start continues on the data of the first, and a stop leaves no process', async () => {
  services = await startLocalServices(config)
  await query(services, 'create table kept as select 42 as answer')
  await inTemporal(services, (client) =>
    client.workflow.start('any', { workflowId: 'kept', taskQueue: 'none' }),
  )
  const ui = await fetch(`${services.temporalUiUrl}/api/v1/namespaces/${NAMESPACE}`)
  expect(ui.status).toBe(200)
  const first = services
  const pids = servicePids()
  expect(pids.length).toBeGreaterThan(3)

  const isBuilt = readFileSync(join(dataDir, 'temporal', 'kind'), 'utf8').trim() === 'built'
  if (isBuilt) {
    const [lost] = (await visibilityIndexes(services)).flatMap((text) => /by_keyword_\d+/.exec(text) ?? [])
    await query(visibility(services), `drop index ${lost}`)
  }
  await services.stop()
  expect(pids.filter(isRunning)).toEqual([])

  services = await startLocalServices(config)
  expect(services).toMatchObject({
    databaseUrl: first.databaseUrl,
    temporalAddress: first.temporalAddress,
    temporalUiUrl: first.temporalUiUrl,
  })
  expect(await query(services, 'select answer from kept')).toEqual([{ answer: 42 }])
  if (isBuilt) {
    const columns = await inTemporal(services, async ({ workflowService }) => {
      const { config: known } = await workflowService.describeNamespace({ namespace: NAMESPACE })
      return Object.keys(known?.customSearchAttributeAliases ?? {})
    })
    expect(columns.length).toBeGreaterThan(0)
    const indexes = await visibilityIndexes(services)
    for (const column of columns)
      expect(indexes.filter((index) => index.includes(`${column.toLowerCase()},`))).toHaveLength(1)
    expect(indexes).toHaveLength(columns.length + 5)
  }
  const workflow = await inTemporal(services, (client) => client.workflow.getHandle('kept').describe())
  expect(workflow.status.name).toBe('RUNNING')

  sendSignal(serverPids()[1] ?? 0, 'SIGKILL')
  expect(await services.ended).toBe('Temporal')
})

test('services of a killed launcher end by themselves', async () => {
  launcher = await launchElsewhere(config)
  const left = servicePids()
  const guards = guardPids()
  expect(guards).toHaveLength(3)
  launcher.kill('SIGKILL')
  expect(await waitUntilGone([...left, ...guards], 30_000)).toBe(true)
})

test('services of a live launcher are left alone; those of a killed one are replaced, with their data', async () => {
  launcher = await launchElsewhere(config)
  const left = serverPids()
  await expect(startLocalServices(config)).rejects.toThrow(
    `in use by another running start (process ${launcher.pid})`,
  )
  expect(left.filter(isRunning)).toEqual(left)
  expect(left).toHaveLength(3)

  // As when everything of the user is killed, guards included.
  for (const pid of guardPids()) sendSignal(pid, 'SIGKILL')
  launcher.kill('SIGKILL')
  if (launcher.pid) await waitUntilGone([launcher.pid], 5000)
  expect(left.filter(isRunning)).toEqual(left)

  services = await startLocalServices(config)
  expect(left.filter(isRunning)).toEqual([])
  expect(services.temporalAddress).toBe(`127.0.0.1:${config.temporalPort}`)
  expect(await query(services, 'select answer from kept')).toEqual([{ answer: 42 }])
})

test.each(['PostgreSQL is being made', 'PostgreSQL runs'])(
  'a start given up leaves nothing behind (while %s)',
  async (moment) => {
    const giveUp = new AbortController()
    const starting = startLocalServices({ ...config, signal: giveUp.signal })
    const outcome = starting.catch((error: unknown) => error)
    if (moment === 'PostgreSQL runs') await until(() => existsSync(join(dataDir, 'postgres', 'port')))
    giveUp.abort(new Error('given up'))
    expect(await outcome).toEqual(new Error('given up'))
    expect(servicePids().filter(isRunning)).toEqual([])
    const postgres = await startPostgres({ dataDir: join(dataDir, 'postgres') })
    await postgres.stop()
  },
)

test('without Temporal CLI and Go says so before PostgreSQL is made', async () => {
  const before = { ...process.env }
  // The last one keeps a Go that is not on the PATH from working.
  Object.assign(process.env, {
    PATH: dataDir,
    XDG_CACHE_HOME: join(dataDir, 'cache'),
    GOTOOLCHAIN: 'of no kind',
  })
  try {
    await expect(startLocalServices(config)).rejects.toThrow(
      /^No way to a Temporal server.*Go is not installed/s,
    )
  } finally {
    for (const name of ['PATH', 'XDG_CACHE_HOME', 'GOTOOLCHAIN']) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
  }
  expect(existsSync(join(dataDir, 'postgres'))).toBe(false)
  expect(lines).toEqual([])
})

test('a busy port gives way to the next free one', async () => {
  const port = await freePort()
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  expect(await portIsFree(port)).toBe(false)
  expect(await nextFreePort(port)).toBeGreaterThan(port)
  server.close()
})

test('ports are chosen below those of outgoing connections, and never twice', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, freePort))
  expect(new Set(ports).size).toBe(50)
  expect(Math.max(...ports)).toBeLessThan(32_768)
})

async function query({ databaseUrl }: Pick<LocalServices, 'databaseUrl'>, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

async function visibilityIndexes(of: LocalServices): Promise<string[]> {
  const rows = await query(
    visibility(of),
    `select lower(indexdef) as definition from pg_indexes where tablename = 'executions_visibility'`,
  )
  return (rows as { definition: string }[]).map(({ definition }) => definition)
}

function visibility({ databaseUrl }: LocalServices): Pick<LocalServices, 'databaseUrl'> {
  const url = new URL(databaseUrl)
  url.pathname = '/temporal_visibility'
  return { databaseUrl: url.href }
}

async function inTemporal<Result>(
  { temporalAddress }: LocalServices,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const connection = await Connection.connect({ address: temporalAddress })
  try {
    return await work(new Client({ connection, namespace: NAMESPACE }))
  } finally {
    await connection.close()
  }
}

/** Another process that starts the local services, makes a table and stays. */
async function launchElsewhere({ log: _log, ...rest }: LocalServicesConfig): Promise<ChildProcess> {
  const module = new URL('../../dev/services/start-services.ts', import.meta.url).href
  const code = `
    const { startLocalServices } = await import(${JSON.stringify(module)})
    const services = await startLocalServices({ ...${JSON.stringify(rest)}, log: () => {} })
    const { default: pg } = await import('pg')
    const client = new pg.Client({ connectionString: services.databaseUrl })
    await client.connect()
    await client.query('create table kept as select 42 as answer')
    console.log('ready')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve())
    child.once('exit', () => reject(new Error('The launcher ended.')))
  })
  return child
}

function servicePids(): number[] {
  const [postgres, ...others] = serverPids()
  return postgres ? [postgres, ...childrenOf(postgres), ...others] : others
}

function guardPids(): number[] {
  return childrenOf(launcher?.pid ?? 0).filter((pid) => processFacts(pid)?.command.includes('guard of'))
}

function serverPids(): number[] {
  const files = ['postgres/postgres.pid', 'temporal/temporal.pid', 'temporal/temporal-ui.pid']
  return files.map(notedPid).filter((pid) => pid !== null)
}

function notedPid(file: string): number | null {
  const path = join(dataDir, file)
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { pid: number }).pid : null
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5))
}
