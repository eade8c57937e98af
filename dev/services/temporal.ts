import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { claimDirectory, releaseDirectory } from './launcher-claim.ts'
import { freePort, nextFreePort, portIsFree, portResponds } from './ports.ts'
import { killLocal, type LocalProcess, spawnLocal, stopLocal, stopStaleService } from './service-process.ts'
import { buildTemporal } from './temporal-build.ts'
import { findTemporalCli, temporalCliCommand } from './temporal-cli.ts'
import { ensureNamespace } from './temporal-namespace.ts'
import { ensureTemporalSchema } from './temporal-schema.ts'
import { INNER_PORTS, type InnerPorts, temporalServerCommand } from './temporal-server.ts'
import { type DynamicConfig, dynamicConfigFile } from './temporal-settings.ts'
import { startTemporalUi } from './temporal-ui.ts'
import { fitVisibilityIndexes } from './temporal-visibility.ts'

export type TemporalOptions = {
  /** Holds configuration, pid files, logs, and the CLI's database. One launcher at a time. */
  dataDir: string
  /** For the two databases of a built Temporal; a function is called only if they are needed. */
  postgresUrl: string | (() => Promise<string>)
  port?: number
  uiPort?: number | null
  namespace: string
  dynamicConfig?: DynamicConfig | undefined
  log?: (line: string) => void
  signal?: AbortSignal | undefined
}

export type TemporalKind = 'cli' | 'built'

export type Temporal = {
  address: string
  uiUrl: string | null
  pid: number
  kind: TemporalKind
  /** Ends UI and server; workflows continue at the next start. */
  stop(): Promise<void>
  kill(): Promise<void>
  exited: Promise<void>
}

type Running = {
  server: LocalProcess
  kind: TemporalKind
  port: number
  ui: LocalProcess | null
  uiPort: number | null
}

/** Part of every command line of ours, CLI or built. */
const PROGRAM = 'temporal'
const STOP_TIMEOUT = 15_000

/** Resolves when workflows can be started. Throws one error with the remedies if neither CLI nor build works. */
export async function startTemporal(requested: TemporalOptions): Promise<Temporal> {
  const options = { ...requested, dataDir: resolve(requested.dataDir) }
  options.signal?.throwIfAborted()
  const begun: LocalProcess[] = []
  try {
    if (await stopStaleTemporal(options.dataDir)) {
      options.log?.('Stopped the Temporal server that an earlier start left behind.')
    }
    return handle(options, await startAny(options, begun))
  } catch (error) {
    for (const service of begun) await killLocal(service.pid)
    releaseDirectory(options.dataDir)
    throw error
  }
}

/** Claims the directory and stops what a killed launcher left. Returns true if there was anything. */
export async function stopStaleTemporal(dataDir: string): Promise<boolean> {
  claimDirectory(resolve(dataDir))
  const files = pidFiles(resolve(dataDir))
  const ui = await stopStaleService(files.ui, PROGRAM, STOP_TIMEOUT)
  const server = await stopStaleService(files.server, PROGRAM, STOP_TIMEOUT)
  return ui || server
}

async function startAny(options: TemporalOptions, begun: LocalProcess[]): Promise<Running> {
  const { dataDir, signal } = options
  const port = await nextFreePort(options.port ?? 7233)
  const uiPort = options.uiPort === null ? null : await nextFreePort(options.uiPort ?? 8233)
  // A directory stays with its kind of server while possible, because the other kind has other data.
  const cli =
    rememberedKind(dataDir) === 'built' ? { usable: false, found: '' } : await findTemporalCli(signal)
  const running = cli.usable
    ? await startCli(options, port, uiPort, begun)
    : await startBuilt(options, port, uiPort, begun, cli.found)
  writeFileSync(join(dataDir, 'kind'), `${running.kind}\n`)
  return running
}

async function startCli(
  options: TemporalOptions,
  port: number,
  uiPort: number | null,
  begun: LocalProcess[],
): Promise<Running> {
  const { dataDir } = options
  const [httpPort, metricsPort] = [await freePort(), await freePort()]
  const command = temporalCliCommand({
    dataDir,
    port,
    uiPort,
    httpPort,
    metricsPort,
    dynamicConfig: options.dynamicConfig,
  })
  const server = await startServer(options, port, command, begun)
  return { server, kind: 'cli', port, ui: null, uiPort }
}

async function startBuilt(
  options: TemporalOptions,
  port: number,
  uiPort: number | null,
  begun: LocalProcess[],
  cliFound: string,
): Promise<Running> {
  const { dataDir, log = () => {}, namespace, signal } = options
  const fallbackCache = join(dataDir, 'engines')
  const programs = await buildTemporal({ withUi: uiPort !== null, fallbackCache, log, signal }).catch(
    (error) => {
      signal?.throwIfAborted()
      throw noWay(cliFound, error)
    },
  )
  const postgresUrl =
    typeof options.postgresUrl === 'string' ? options.postgresUrl : await options.postgresUrl()
  await ensureTemporalSchema(postgresUrl, programs.sqlTool, signal)
  const configFile = join(dataDir, 'dynamic-config.yaml')
  writeFileSync(configFile, dynamicConfigFile(options.dynamicConfig))
  const innerPorts = await rememberedPorts(dataDir)
  const command = temporalServerCommand({
    program: programs.server,
    postgresUrl,
    port,
    innerPorts,
    dynamicConfigFile: configFile,
  })
  const server = await startServer(options, port, command, begun)
  await fitVisibilityIndexes({ address: `127.0.0.1:${port}`, namespace, postgresUrl })
  if (programs.ui === null || uiPort === null) return { server, kind: 'built', port, ui: null, uiPort: null }
  try {
    const pidFile = pidFiles(dataDir).ui
    const temporalAddress = `127.0.0.1:${port}`
    const ui = await startTemporalUi({
      program: programs.ui,
      dataDir,
      pidFile,
      temporalAddress,
      namespace,
      port: uiPort,
      signal,
    })
    begun.push(ui)
    return { server, kind: 'built', port, ui, uiPort }
  } catch (error) {
    signal?.throwIfAborted()
    log(`No Temporal UI: ${error instanceof Error ? error.message : error}`)
    return { server, kind: 'built', port, ui: null, uiPort: null }
  }
}

async function startServer(
  options: TemporalOptions,
  port: number,
  command: { file: string; args: readonly string[]; env: NodeJS.ProcessEnv },
  begun: LocalProcess[],
): Promise<LocalProcess> {
  const { dataDir, namespace, signal } = options
  const logFile = join(dataDir, 'logs', 'temporal.log')
  const server = await spawnLocal({
    ...command,
    logFile,
    pidFile: pidFiles(dataDir).server,
    whenAbandoned: [{ signal: 'SIGTERM', wait: 5_000 }],
  })
  begun.push(server)
  const isHopeless = () => server.hasExited() || signal?.aborted === true
  if (await portResponds(port, 60_000, isHopeless)) {
    await ensureNamespace({ address: `127.0.0.1:${port}`, namespace, isHopeless, signal })
    return server
  }
  signal?.throwIfAborted()
  const tail = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-8).join('\n')
  throw new Error(`The Temporal server does not start. The end of ${logFile}:\n${tail}`)
}

function handle({ dataDir }: TemporalOptions, running: Running): Temporal {
  const { server, ui, kind } = running
  const files = pidFiles(dataDir)
  const stop = async () => {
    if (ui) await stopLocal(ui.pid, files.ui, STOP_TIMEOUT)
    await stopLocal(server.pid, files.server, STOP_TIMEOUT)
    releaseDirectory(dataDir)
  }
  const kill = async () => {
    await Promise.all([server, ui].map((service) => service && killLocal(service.pid)))
    releaseDirectory(dataDir)
  }
  return {
    address: `127.0.0.1:${running.port}`,
    uiUrl: running.uiPort === null ? null : `http://127.0.0.1:${running.uiPort}`,
    pid: server.pid,
    kind,
    exited: server.exited,
    stop,
    kill,
  }
}

function noWay(cliFound: string, error: unknown): Error {
  const reason = error instanceof Error ? error.message : String(error)
  return new Error(
    [
      'No way to a Temporal server. Choose one:',
      '  - set TEMPORAL_ADDRESS to a running server (1.32 or newer, with time skipping enabled)',
      '  - put a temporal CLI with server 1.32 or newer on the PATH',
      '  - install Go 1.26.8 or newer, and the server is built from source once',
      `Tried: the CLI (${cliFound}); the build (${reason})`,
    ].join('\n'),
    { cause: error },
  )
}

async function rememberedPorts(dataDir: string): Promise<InnerPorts> {
  const file = join(dataDir, 'ports.json')
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<InnerPorts>) : {}
  const chosen = {} as InnerPorts
  for (const name of INNER_PORTS) {
    const port = known[name]
    chosen[name] = port !== undefined && (await portIsFree(port)) ? port : await freePort()
  }
  writeFileSync(file, JSON.stringify(chosen, null, 2))
  return chosen
}

function rememberedKind(dataDir: string): string | null {
  mkdirSync(dataDir, { recursive: true })
  const file = join(dataDir, 'kind')
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null
}

function pidFiles(dataDir: string) {
  return { server: join(dataDir, 'temporal.pid'), ui: join(dataDir, 'temporal-ui.pid') }
}
