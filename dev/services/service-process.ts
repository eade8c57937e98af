// Its own process group keeps Ctrl-C away, so that the launcher drains first. Its guard ends it if the launcher is
// killed; if the guard is killed too, the next launcher finds its pid file.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { guard } from './guard.ts'
import { recordedProcess, recordPid } from './pid-file.ts'
import { type StopStep, sendSignal, stopProcess, waitUntilGone } from './processes.ts'

export type ServiceOptions = {
  file: string
  args: readonly string[]
  env: NodeJS.ProcessEnv
  cwd?: string
  account?: { uid: number; gid: number } | null
  /** Output is appended here. The file is emptied first if it exceeds 20 MB. */
  logFile: string
  pidFile: string
  /** How it is ended if this process is killed; SIGKILL comes last. */
  whenAbandoned: readonly StopStep[]
}

export type LocalProcess = {
  pid: number
  exited: Promise<void>
  hasExited(): boolean
}

const LOG_LIMIT = 20 * 1024 * 1024

/** Starts the process and records it in its pid file. Throws if the program cannot be executed. */
export async function spawnLocal(options: ServiceOptions): Promise<LocalProcess> {
  mkdirSync(dirname(options.logFile), { recursive: true })
  mkdirSync(dirname(options.pidFile), { recursive: true })
  const output = openSync(options.logFile, logIsTooLarge(options.logFile) ? 'w' : 'a', 0o600)
  let child: ChildProcess
  try {
    child = spawn(options.file, options.args, {
      cwd: options.cwd ?? '/',
      env: options.env,
      stdio: ['ignore', output, output],
      detached: true,
      ...(options.account ?? {}),
    })
    await once(child, 'spawn')
  } finally {
    closeSync(output)
  }
  const { pid } = child
  if (pid === undefined) throw new Error(`${options.file} did not start.`)
  child.unref()
  const guarded = guard(pid, options.pidFile, options.whenAbandoned)
  const state = { exited: false }
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      state.exited = true
      guarded.release()
      resolve()
    })
  })
  recordPid(options.pidFile, pid)
  return { pid, exited, hasExited: () => state.exited }
}

/** Sends SIGTERM, and SIGKILL to the whole group after the timeout. Removes the pid file. */
export async function stopLocal(pid: number, pidFile: string, timeout: number): Promise<void> {
  try {
    await stopProcess(pid, [{ signal: 'SIGTERM', wait: timeout }])
  } catch {
    await killLocal(pid)
  }
  rmSync(pidFile, { force: true })
}

export async function killLocal(pid: number): Promise<void> {
  sendSignal(-pid, 'SIGKILL')
  if (!(await waitUntilGone([pid], 10_000))) throw new Error(`Process ${pid} did not end.`)
}

/** Stops the process of a pid file if it still runs the expected program. Returns true if there was one. */
export async function stopStaleService(
  pidFile: string,
  commandContains: string,
  timeout: number,
): Promise<boolean> {
  const stale = recordedProcess(pidFile)
  const isOurs = stale?.command.includes(commandContains) === true
  if (stale && isOurs) await stopLocal(stale.pid, pidFile, timeout)
  else rmSync(pidFile, { force: true })
  return isOurs
}

function logIsTooLarge(logFile: string): boolean {
  return (statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) > LOG_LIMIT
}
