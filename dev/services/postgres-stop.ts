import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import {
  childrenOf,
  isRunning,
  processFacts,
  type StopStep,
  sendSignal,
  stopProcess,
  waitUntilGone,
} from './processes.ts'

export const STOP_STEPS: readonly StopStep[] = [
  { signal: 'SIGINT', wait: 20_000 },
  { signal: 'SIGQUIT', wait: 5000 },
]

/** Fast shutdown, then immediate shutdown, then SIGKILL. Resolves when server and children have ended. */
export async function stopPostmaster(pid: number): Promise<void> {
  try {
    await stopProcess(pid, STOP_STEPS)
  } catch {
    await killPostmaster(pid)
  }
}

/** Sends SIGKILL to the server and to its children, which have their own groups. */
export async function killPostmaster(pid: number): Promise<void> {
  if (!isRunning(pid)) return
  // Stopped first, so that it cannot start a child after the listing.
  sendSignal(pid, 'SIGSTOP')
  const children = childrenOf(pid)
  sendSignal(pid, 'SIGKILL')
  for (const child of children) sendSignal(child, 'SIGKILL')
  if (!(await waitUntilGone([pid, ...children], 10_000)))
    throw new Error(`PostgreSQL (process ${pid}) did not end.`)
}

/** Stops a server left on the cluster, if it is one of PostgreSQL. Returns true if there was one. */
export async function stopStalePostmaster(cluster: string): Promise<boolean> {
  const file = join(cluster, 'postmaster.pid')
  if (!existsSync(file)) return false
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0])
  const command = pid > 1 ? processFacts(pid)?.command : undefined
  const isOurs =
    command !== undefined && [cluster, realpathSync(cluster)].some((path) => command.includes(`-D ${path} `))
  if (isOurs) await stopPostmaster(pid)
  return isOurs
}
