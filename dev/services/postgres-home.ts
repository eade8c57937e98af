// If root starts PostgreSQL from a directory that only root may enter, PostgreSQL's account can reach nothing
// there. Then programs and data are under /var/lib, and a file in the data directory points there.
import { createHash, randomUUID } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Account, canRun, canUse, postgresAccount } from './postgres-account.ts'
import {
  completePostgres,
  copyPostgres,
  findPostgres,
  type PostgresBinaries,
  postgresProgram,
} from './postgres-binaries.ts'
import { runProgram } from './run-program.ts'

export type PostgresHome = {
  native: string
  dataFolder: string
  account: Account | null
}

const SHARED_PLACES = ['/var/lib/subscription-billing', '/var/tmp/subscription-billing']

export async function preparePostgresHome(
  dataDir: string,
  log: (line: string) => void,
): Promise<PostgresHome> {
  const binaries = findPostgres()
  const account = postgresAccount()
  if (!account) return { native: ownPrograms(binaries), dataFolder: ownFolder(dataDir), account: null }
  const native = reachablePrograms(binaries, account)
  const dataFolder = await reachableFolder(dataDir, account, log)
  const owner = clusterOwner(dataFolder)
  return { native, dataFolder, account: owner ?? account }
}

function ownPrograms(binaries: PostgresBinaries): string {
  try {
    completePostgres(binaries.native)
    return binaries.native
  } catch {
    const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
    return copyPostgres(binaries, join(cache, 'subscription-billing', `postgres-${binaries.version}`))
  }
}

function ownFolder(dataDir: string): string {
  const folder = join(dataDir, 'cluster')
  const owner = statSync(folder, { throwIfNoEntry: false })?.uid
  if (owner !== undefined && process.getuid && owner !== process.getuid()) {
    throw new Error(
      `${folder} belongs to another user (id ${owner}). Start as that user or as root, or set DATA_DIR to another directory.`,
    )
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folder
}

function reachablePrograms(binaries: PostgresBinaries, account: Account): string {
  try {
    completePostgres(binaries.native)
    if (canRun(account, postgresProgram(binaries.native, 'postgres'))) return binaries.native
  } catch {
    // A read-only node_modules: a copy can be completed.
  }
  const copy = copyPostgres(binaries, join(sharedPlace(), `postgres-${binaries.version}`))
  const program = postgresProgram(copy, 'postgres')
  if (canRun(account, program)) return copy
  throw new Error(
    `${program} cannot be run by user id ${account.uid}. Start as another user, or set DATABASE_URL.`,
  )
}

async function reachableFolder(
  dataDir: string,
  account: Account,
  log: (line: string) => void,
): Promise<string> {
  const own = join(dataDir, 'cluster')
  const pointed = readPointer(dataDir)
  if (pointed && existsSync(pointed)) return pointed
  if (existsSync(own)) {
    if (canUse(clusterOwner(own) ?? account, own)) return own
  } else {
    makeFolder(own, account)
    if (canUse(account, own)) return own
    rmSync(own, { recursive: true })
  }
  const elsewhere = placeElsewhere(dataDir)
  log(
    `${dataDir} can be entered by root alone: PostgreSQL runs as user id ${account.uid} with its data in ${elsewhere}.`,
  )
  writeFileSync(pointerFile(dataDir), `${JSON.stringify({ folder: elsewhere, of: realpathSync(dataDir) })}\n`)
  if (existsSync(own)) await runProgram('mv', [own, elsewhere])
  else makeFolder(elsewhere, account)
  return elsewhere
}

/** Returns a deterministic path. Data there without a pointer are of a removed clone: set aside, not used. */
function placeElsewhere(dataDir: string): string {
  const name = createHash('sha256').update(realpathSync(dataDir)).digest('hex').slice(0, 16)
  const folder = join(sharedPlace(), name)
  if (existsSync(folder)) renameSync(folder, `${folder}.old-${randomUUID().slice(0, 8)}`)
  return folder
}

/** A pointer copied from an existing directory is ignored. */
function readPointer(dataDir: string): string | null {
  try {
    const pointer = JSON.parse(readFileSync(pointerFile(dataDir), 'utf8')) as { folder: string; of: string }
    const isCopy = pointer.of !== realpathSync(dataDir) && existsSync(pointerFile(pointer.of))
    return isCopy ? null : pointer.folder
  } catch {
    return null
  }
}

function pointerFile(dataDir: string): string {
  return join(dataDir, 'cluster-location.json')
}

function makeFolder(folder: string, account: Account): void {
  mkdirSync(folder, { mode: 0o700 })
  chownSync(folder, account.uid, account.gid)
}

function sharedPlace(): string {
  for (const place of SHARED_PLACES) {
    try {
      mkdirSync(place, { recursive: true })
      // Everyone may pass, whatever the umask; only root may write.
      chmodSync(place, 0o755)
      return place
    } catch {}
  }
  throw new Error(
    `None of ${SHARED_PLACES.join(', ')} can be written. Set DATABASE_URL to a PostgreSQL server.`,
  )
}

/** The account that created the data stays their owner, even if root starts them later. */
function clusterOwner(folder: string): Account | null {
  const { uid, gid } = statSync(folder)
  return uid === 0 ? null : { uid, gid }
}
