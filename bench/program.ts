import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { childrenOf, isRunning, stopProcess } from '../dev/services/processes.ts'
import type { Teardown } from './teardown.ts'

export interface Program {
  readonly pid: number
  /** Milliseconds from the start of the process to its line `ready …`, to within twenty milliseconds. */
  readonly readyAfter: number
  /** Sends SIGTERM, and SIGKILL after a timeout. Returns false if it had to be killed. */
  stop(): Promise<boolean>
  kill(): Promise<void>
}

export interface ProgramOptions {
  readonly script: string
  readonly env: NodeJS.ProcessEnv
  readonly logFile: string
  readonly readyWithin: number
  readonly nodeArguments?: readonly string[]
}

const DRAINED_WITHIN = 60_000

/** Resolves when the program is ready. Otherwise it is stopped, and its last lines are the error. */
export async function startProgram(options: ProgramOptions, teardown: Teardown): Promise<Program> {
  const { script, env, logFile, readyWithin, nodeArguments = [] } = options
  const output = openSync(logFile, 'w')
  const started = performance.now()
  const child = spawn(process.execPath, [...nodeArguments, repositoryPath(script)], {
    cwd: repositoryPath('.'),
    env,
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  const { pid } = child
  if (pid === undefined) throw new Error(`${script} could not be started`)
  let stopping: Promise<boolean> | null = null
  const stop = (): Promise<boolean> => {
    stopping ??= end(pid)
    return stopping
  }
  teardown.add(stop)
  while (!/^ready /m.test(readFileSync(logFile, 'utf8'))) {
    if (!isRunning(pid) || stopping !== null || performance.now() - started > readyWithin) {
      await stop()
      throw new Error(`${script} did not get ready; its last lines:\n${tail(logFile)}`)
    }
    await delay(20)
  }
  return { pid, readyAfter: performance.now() - started, stop, kill: () => killed(pid) }
}

/** CPU seconds of a process with all its threads; null if the system does not report them. */
export function cpuSeconds(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // pid (name, which may contain blanks) state …; fields 14 and 15 are user and system time in ticks of 10 ms.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return null
  }
}

export function residentMegabytes(pid: number): number | null {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kilobytes === undefined ? null : Number(kilobytes) / 1024
  } catch {
    return null
  }
}

/** Measures the CPU time of a process's children, including those that ended since the last read. */
export function childrenMeter(pid: number): () => number | null {
  const secondsByChild = new Map<number, number>()
  return () => {
    for (const child of childrenOf(pid)) {
      const seconds = cpuSeconds(child)
      if (seconds !== null) secondsByChild.set(child, seconds)
    }
    return secondsByChild.size === 0
      ? null
      : [...secondsByChild.values()].reduce((sum, seconds) => sum + seconds, 0)
  }
}

function repositoryPath(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url))
}

async function end(pid: number): Promise<boolean> {
  if (!isRunning(pid)) return true
  try {
    await stopProcess(pid, [{ signal: 'SIGTERM', wait: DRAINED_WITHIN }])
    return true
  } catch {
    await stopProcess(pid, [{ signal: 'SIGKILL', wait: 10_000 }])
    return false
  }
}

async function killed(pid: number): Promise<void> {
  await stopProcess(pid, [{ signal: 'SIGKILL', wait: 10_000 }])
}

function tail(logFile: string): string {
  return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-8).join('\n')
}
