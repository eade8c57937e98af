// The claim of a killed launcher is void, so that the next one may stop what remains.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { tryLock, unlock } from './lock.mjs'

/** Claims the directory for this process, and creates it if missing. Throws if another live process holds it. */
export function claimDirectory(dataDir: string): void {
  const { taken, holder } = claim(dataDir)
  if (taken) return
  throw new Error(
    `${dataDir} is in use by another running start (process ${holder}). Stop that one first, or set DATA_DIR to another directory.`,
  )
}

export function releaseDirectory(dataDir: string): void {
  unlock(join(dataDir, 'launcher.lock'))
}

function claim(dataDir: string): { taken: boolean; holder?: number } {
  try {
    mkdirSync(dataDir, { recursive: true })
    return tryLock(join(dataDir, 'launcher.lock'))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(
      `${dataDir} cannot be used (${reason}). Start as the user it belongs to, or set DATA_DIR to another directory.`,
      { cause: error },
    )
  }
}
