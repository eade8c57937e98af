import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { withLock } from './lock.mjs'
import { runProgram } from './run-program.ts'

export type GoProgram = { title: string; folder: string; name: string; module: string }

/** Returns the path of a program, built unless cached; safe under concurrent calls. Throws if Go is missing. */
export async function buildGoProgram(
  program: GoProgram,
  note: string,
  cache: string,
  options: { readonly log: (line: string) => void; readonly signal?: AbortSignal | undefined },
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
        await withProgress(`Building ${program.title} (${note})`, log, () =>
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
  // Go fetches the version that the program asks for, also where a distribution has switched that off.
  const GOTOOLCHAIN = inherited.GOTOOLCHAIN || 'auto'
  const env = { ...inherited, ...folders, GOFLAGS: '', GOWORK: 'off', GOTOOLCHAIN }
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

/** Returns the user's cache of built programs, or `fallback` if that cannot be written. */
export function binaryCache(fallback: string): string {
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
