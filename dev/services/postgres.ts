// Started without a wrapper module: it must outlive signals to our process group until the service has drained, and
// must be found again after its launcher was killed.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { claimDirectory, releaseDirectory } from './launcher-claim.ts'
import { freePort, portIsFree } from './ports.ts'
import { postgresProgram } from './postgres-binaries.ts'
import { initializeCluster } from './postgres-cluster.ts'
import { type PostgresHome, preparePostgresHome } from './postgres-home.ts'
import { killPostmaster, STOP_STEPS, stopPostmaster, stopStalePostmaster } from './postgres-stop.ts'
import { type LocalProcess, spawnLocal } from './service-process.ts'

export type PostgresOptions = {
  /** Holds password, port, log and, if PostgreSQL's account can reach it, the cluster. One launcher at a time. */
  dataDir: string
  /** An error if in use. Default: that of the last start if it is free, otherwise any free one. */
  port?: number
  log?: (line: string) => void
  /** False for throwaway clusters: faster, and lost with a crash of the machine. */
  durable?: boolean
  signal?: AbortSignal | undefined
}

export type Postgres = {
  url: string
  pid: number
  port: number
  /** Fast shutdown: connections are closed, data is safe. */
  stop(): Promise<void>
  kill(): Promise<void>
  exited: Promise<void>
}

const READY_WITHIN = 60_000
const SUPERUSER = 'postgres'
const WRONG_PASSWORD = '28P01'

/** Resolves when connections work; leaves nothing running if aborted. Stops a killed launcher's server first. */
export async function startPostgres(requested: PostgresOptions): Promise<Postgres> {
  const options = { ...requested, dataDir: resolve(requested.dataDir) }
  const { dataDir, log = () => {}, signal } = options
  signal?.throwIfAborted()
  claimDirectory(dataDir)
  try {
    const home = await preparePostgresHome(dataDir, log)
    const cluster = join(home.dataFolder, 'data')
    if (await stopStalePostmaster(cluster))
      log('Stopped the PostgreSQL server that an earlier start left behind.')
    const password = readPassword(dataDir)
    await initializeCluster({
      home,
      cluster,
      password,
      superuser: SUPERUSER,
      durable: options.durable ?? true,
      signal,
    })
    return await startOnPort(options, home, cluster, password)
  } catch (error) {
    releaseDirectory(dataDir)
    throw error
  }
}

async function startOnPort(options: PostgresOptions, home: PostgresHome, cluster: string, password: string) {
  const { dataDir, signal } = options
  for (let attempt = 1; ; attempt++) {
    const port = await choosePort(options)
    const server = await spawnLocal({
      file: postgresProgram(home.native, 'postgres'),
      args: ['-D', cluster, ...settings(port, options.durable ?? true)],
      env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
      account: home.account,
      logFile: join(dataDir, 'logs', 'postgres.log'),
      pidFile: join(dataDir, 'postgres.pid'),
      whenAbandoned: STOP_STEPS,
    })
    const url = `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`
    try {
      await untilReady(url, server, signal)
    } catch (error) {
      const exitedByItself = server.hasExited()
      await stopPostmaster(server.pid)
      // Another process took the port meanwhile, or children of a killed server still hold its memory: try again.
      if (exitedByItself && attempt < 3 && !signal?.aborted) {
        await delay(500 * attempt)
        continue
      }
      throw signal?.aborted ? signal.reason : withLog(error, join(dataDir, 'logs', 'postgres.log'))
    }
    writeFileSync(join(dataDir, 'port'), `${port}\n`)
    return handle(dataDir, url, port, server)
  }
}

function handle(dataDir: string, url: string, port: number, server: LocalProcess): Postgres {
  const ended = () => {
    rmSync(join(dataDir, 'postgres.pid'), { force: true })
    releaseDirectory(dataDir)
  }
  return {
    url,
    pid: server.pid,
    port,
    exited: server.exited,
    stop: () => stopPostmaster(server.pid).finally(ended),
    kill: () => killPostmaster(server.pid).finally(ended),
  }
}

function settings(port: number, durable: boolean): string[] {
  const values: Record<string, string | number> = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 300,
    shared_buffers: '128MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    jit: 'off',
    cluster_name: 'subscription-billing',
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }),
  }
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

async function choosePort({ dataDir, port }: PostgresOptions): Promise<number> {
  if (port !== undefined) {
    if (await portIsFree(port)) return port
    throw new Error(`Port ${port}, wanted for PostgreSQL, is busy.`)
  }
  const remembered = existsSync(join(dataDir, 'port'))
    ? Number(readFileSync(join(dataDir, 'port'), 'utf8'))
    : 0
  return remembered > 0 && (await portIsFree(remembered)) ? remembered : freePort()
}

async function untilReady(url: string, server: LocalProcess, signal: AbortSignal | undefined): Promise<void> {
  const end = Date.now() + READY_WITHIN
  for (;;) {
    signal?.throwIfAborted()
    if (server.hasExited()) throw new Error('PostgreSQL ended while it was starting.')
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.end()
      return
    } catch (error) {
      await client.end().catch(() => {})
      const refused = error instanceof pg.DatabaseError && error.code === WRONG_PASSWORD
      if (refused || Date.now() > end) throw error
      await delay(25)
    }
  }
}

function readPassword(dataDir: string): string {
  const file = join(dataDir, 'password')
  if (!existsSync(file)) {
    writeFileSync(`${file}.new`, randomBytes(24).toString('base64url'), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }
  return readFileSync(file, 'utf8').trim()
}

function withLog(error: unknown, logFile: string): Error {
  const tail = existsSync(logFile)
    ? readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-8).join('\n')
    : ''
  const message = error instanceof Error ? error.message : String(error)
  return new Error(`PostgreSQL does not start: ${message}\n${tail}`, { cause: error })
}
