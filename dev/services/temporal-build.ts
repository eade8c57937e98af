// Compiles the stock Temporal server, its SQL tool and its web UI from Go modules at fixed versions into a cache of the
// user. The first build on a machine takes minutes.
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { withLock } from './lock.mjs'
import { runProgram } from './run-program.ts'

/** Newer servers require a newer Go than 1.26.8. The schema versions in temporal-schema.ts belong to this version. */
const SERVER = '1.32.1'
const UI = '2.54.1'

type Program = { title: string; folder: string; name: string; module: string }

const PROGRAMS = {
  server: {
    title: `Temporal server ${SERVER}`,
    folder: `temporal-${SERVER}`,
    name: 'temporal-server',
    module: `go.temporal.io/server/cmd/server@v${SERVER}`,
  },
  sqlTool: {
    title: `Temporal SQL tool ${SERVER}`,
    folder: `temporal-${SERVER}`,
    name: 'temporal-sql-tool',
    module: `go.temporal.io/server/cmd/tools/sql@v${SERVER}`,
  },
  ui: {
    title: `Temporal UI ${UI}`,
    folder: `temporal-ui-${UI}`,
    name: 'temporal-ui',
    module: `github.com/temporalio/ui-server/v2/cmd/server@v${UI}`,
  },
} as const satisfies Record<string, Program>

export type TemporalPrograms = { server: string; sqlTool: string; ui: string | null }

export type BuildOptions = {
  withUi: boolean
  /** Used if the user's cache cannot be written. */
  fallbackCache: string
  log: (line: string) => void
  signal?: AbortSignal | undefined
}

/**
 * Returns the paths of the programs and builds missing ones; safe under concurrent calls. If only the UI's build fails,
 * it is left out. Throws if Go is missing or a build fails.
 */
export async function buildTemporal(options: BuildOptions): Promise<TemporalPrograms> {
  const cache = binaryCache(options.fallbackCache)
  const wanted = options.withUi ? 3 : 2
  const build = (program: Program, number: number) =>
    buildOnce(program, `${number} of ${wanted}`, cache, options)
  const server = await build(PROGRAMS.server, 1)
  const sqlTool = await build(PROGRAMS.sqlTool, 2)
  if (!options.withUi) return { server, sqlTool, ui: null }
  try {
    return { server, sqlTool, ui: await build(PROGRAMS.ui, 3) }
  } catch (error) {
    options.signal?.throwIfAborted()
    options.log(`No Temporal UI: ${error instanceof Error ? error.message : error}`)
    return { server, sqlTool, ui: null }
  }
}

async function buildOnce(
  program: Program,
  place: string,
  cache: string,
  options: BuildOptions,
): Promise<string> {
  const { log, signal } = options
  const target = join(cache, `${program.folder}-${process.platform}-${process.arch}`, program.name)
  if (existsSync(target)) return target
  const go = await findGo(signal)
  mkdirSync(dirname(target), { recursive: true })
  const onWait = (holder: number) =>
    log(`Waiting for process ${holder}, which is building ${program.title} already.`)
  await withLock(
    `${target}.lock`,
    async () => {
      if (existsSync(target)) return
      const draft = mkdtempSync(`${target}.build-`)
      try {
        await withProgress(`Building ${program.title} (${place}, once per machine)`, log, () =>
          install(go, program.module, draft, signal),
        )
        renameSync(join(draft, 'bin', builtName(program.module)), target)
      } finally {
        rmSync(draft, { recursive: true, force: true })
      }
    },
    { onWait, signal },
  )
  return target
}

async function install(go: string, module: string, draft: string, signal?: AbortSignal): Promise<void> {
  const { GOOS: _os, GOARCH: _arch, ...inherited } = process.env
  const folders = { GOBIN: join(draft, 'bin'), GOTMPDIR: join(draft, 'tmp') }
  mkdirSync(folders.GOTMPDIR)
  const env = { ...inherited, ...folders, GOFLAGS: '', GOWORK: 'off' }
  // Without symbol tables the programs are a quarter smaller and link faster.
  await runProgram(go, ['install', '-ldflags=-s -w', module], { cwd: draft, env, signal })
}

async function withProgress(
  what: string,
  log: (line: string) => void,
  work: () => Promise<void>,
): Promise<void> {
  const begun = Date.now()
  const elapsed = () => {
    const seconds = Math.round((Date.now() - begun) / 1000)
    return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  }
  log(`${what} …`)
  const ticker = setInterval(() => log(`${what} … ${elapsed()}`), 15_000)
  try {
    await work()
    log(`${what}: done in ${elapsed()}.`)
  } finally {
    clearInterval(ticker)
  }
}

async function findGo(signal?: AbortSignal): Promise<string> {
  for (const go of ['go', '/usr/local/go/bin/go', '/opt/homebrew/bin/go']) {
    try {
      await runProgram(go, ['version'], { signal })
      return go
    } catch {
      signal?.throwIfAborted()
    }
  }
  throw new Error('Go is not installed.')
}

function binaryCache(fallback: string): string {
  const cache = join(
    process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
    'subscription-billing',
    'engines',
  )
  try {
    mkdirSync(cache, { recursive: true })
    accessSync(cache, constants.W_OK)
    return cache
  } catch {
    mkdirSync(fallback, { recursive: true })
    return fallback
  }
}

/** go install names a program after the last part of its path. */
function builtName(module: string): string {
  const path = module.slice(0, module.indexOf('@'))
  return path.slice(path.lastIndexOf('/') + 1)
}
