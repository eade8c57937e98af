// A lock between processes: a directory that holds its owner's process id. The lock of a process that is gone is void.
// Plain JavaScript without dependencies, because the set-up step needs it before anything is installed.
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** Takes the lock, or answers whose it is; a process that holds it may take it again. */
export function tryLock(path) {
  const token = randomUUID()
  const draft = `${path}.${token}`
  mkdirSync(draft, { recursive: true })
  writeFileSync(
    join(draft, 'owner.json'),
    JSON.stringify({ pid: process.pid, started: startOf(process.pid), token }),
  )
  try {
    for (let attempt = 0; attempt < 1000; attempt++) {
      // Complete with its owner, it takes its place in one step; that fails while there is another one.
      if (renamed(draft, path)) {
        clearOldRemains(path)
        return { taken: true }
      }
      const owner = ownerOf(path)
      if (!owner) continue
      if (startOf(owner.pid) === owner.started) return { taken: owner.pid === process.pid, holder: owner.pid }
      // A void lock is moved to a name of its own, so that of two who saw it only one can move it, and neither can
      // move the lock that the other has made since.
      renamed(path, `${path}.stale-${owner.token}`)
    }
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  throw new Error(`${path} can neither be taken nor read. Remove it if nothing is running.`)
}

/** Gives the lock back, if this process holds it. */
export function unlock(path) {
  const owner = ownerOf(path)
  if (owner?.pid !== process.pid) return
  const remains = `${path}.released-${owner.token}`
  if (renamed(path, remains)) rmSync(remains, { recursive: true, force: true })
}

/** Does the work while holding the lock; waits for it as long as another live process has it. */
export async function withLock(path, work, { onWait = () => {}, signal } = {}) {
  let told = false
  for (;;) {
    signal?.throwIfAborted()
    const { taken, holder } = tryLock(path)
    if (taken) break
    if (!told) onWait(holder)
    told = true
    await delay(250)
  }
  try {
    return await work()
  } finally {
    unlock(path)
  }
}

function ownerOf(path) {
  try {
    return JSON.parse(readFileSync(join(path, 'owner.json'), 'utf8'))
  } catch {
    return null
  }
}

/** When the process started; '' where the system does not tell, null when there is no such process or only its zombie. */
function startOf(pid) {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return fields[0] === 'Z' ? null : fields[19]
    }
    process.kill(pid, 0)
    return ''
  } catch (error) {
    return error.code === 'EPERM' ? '' : null
  }
}

function renamed(from, to) {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST', 'EPERM', 'EACCES', 'ENOENT'].includes(error.code)) return false
    throw error
  }
}

/** Moved-away locks are kept for a minute: their names are what keeps a second process from moving a newer lock. */
function clearOldRemains(path) {
  const old = Date.now() - 60_000
  for (const name of readdirSync(dirname(path))) {
    if (!name.startsWith(`${basename(path)}.`)) continue
    const remains = join(dirname(path), name)
    const changed = statSync(remains, { throwIfNoEntry: false })?.ctimeMs ?? 0
    if (changed < old) rmSync(remains, { recursive: true, force: true })
  }
}
