import { chownSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { postgresProgram } from './postgres-binaries.ts'
import type { PostgresHome } from './postgres-home.ts'
import { runProgram } from './run-program.ts'

export type ClusterOptions = {
  home: PostgresHome
  cluster: string
  password: string
  superuser: string
  durable: boolean
  signal: AbortSignal | undefined
}

/** Complete or not at all. Throws if an existing cluster and the programs differ in major version. */
export async function initializeCluster(options: ClusterOptions): Promise<void> {
  const { home, cluster, durable, signal } = options
  if (existsSync(join(cluster, 'PG_VERSION'))) return checkVersion(options)
  const draft = `${cluster}.new`
  rmSync(draft, { recursive: true, force: true })
  const passwordFile = `${cluster}.password`
  rmSync(passwordFile, { force: true })
  writeFileSync(passwordFile, options.password, { mode: 0o600, flag: 'wx' })
  if (home.account) chownSync(passwordFile, home.account.uid, home.account.gid)
  try {
    await runProgram(
      postgresProgram(home.native, 'initdb'),
      [
        ...['-D', draft, '-U', options.superuser, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`],
        // The builtin C.UTF-8 is the same on every system; the C library's may be missing.
        ...['-E', 'UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
        ...(durable ? [] : ['--no-sync']),
      ],
      { env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }, account: home.account, signal },
    )
  } finally {
    rmSync(passwordFile, { force: true })
  }
  renameSync(draft, cluster)
}

async function checkVersion({ home, cluster }: ClusterOptions): Promise<void> {
  const made = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
  const output = await runProgram(postgresProgram(home.native, 'postgres'), ['--version'], {
    account: home.account,
  })
  const present = /(\d+)/.exec(output)?.[1]
  if (made === present) return
  throw new Error(
    `${cluster} was made by PostgreSQL ${made}, and the programs are of version ${present}. Dump it with the older programs and restore it, or set DATA_DIR to another directory.`,
  )
}
