// A zombie counts as ended: in a container whose first process does not reap, it would live for ever.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

export type ProcessFacts = {
  pid: number
  parent: number
  /** With the pid, distinguishes the process from a later one with the same pid. */
  started: string
  command: string
}

export function processFacts(pid: number): ProcessFacts | null {
  return process.platform === 'linux' ? factsFromProc(pid) : (factsFromPs(['-p', String(pid)])[0] ?? null)
}

export type StopStep = { readonly signal: NodeJS.Signals; readonly wait: number }

export function isRunning(pid: number): boolean {
  return processFacts(pid) !== null
}

export function allProcesses(): ProcessFacts[] {
  return process.platform === 'linux' ? allFromProc() : factsFromPs(['-ax'])
}

export function childrenOf(pid: number): number[] {
  return allProcesses()
    .filter((facts) => facts.parent === pid)
    .map((facts) => facts.pid)
}

/** Sends a signal; an ended process is not an error. A negative pid means a process group. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Returns false if one of the processes still runs after the time limit. */
export async function waitUntilGone(pids: readonly number[], milliseconds: number): Promise<boolean> {
  const end = Date.now() + milliseconds
  while (pids.some(isRunning)) {
    if (Date.now() >= end) return false
    await delay(15)
  }
  return true
}

export async function stopProcess(pid: number, steps: readonly StopStep[]): Promise<void> {
  for (const { signal, wait } of steps) {
    if (!isRunning(pid)) return
    sendSignal(pid, signal)
    if (await waitUntilGone([pid], wait)) return
  }
  throw new Error(`Process ${pid} did not end.`)
}

function factsFromProc(pid: number): ProcessFacts | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // pid (name, which may contain blanks and brackets) state parent …; the 22nd field is the start time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'X' || (fields[0] === 'Z' && !hasOtherThreads(pid))) return null
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return { pid, parent: Number(fields[1]), started: fields[19] ?? '', command }
  } catch {
    return null
  }
}

/** The first thread of a killed process can be a zombie while others still hold its files and ports. */
function hasOtherThreads(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).length > 1
}

function allFromProc(): ProcessFacts[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => factsFromProc(Number(name)) ?? [])
}

function factsFromPs(selection: string[]): ProcessFacts[] {
  let output: string
  try {
    const columns = ['-ww', '-o', 'pid=,ppid=,stat=,lstart=,command=']
    output = execFileSync('ps', [...selection, ...columns], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch {
    return []
  }
  // lstart has five fields: "Thu Jan 1 00:00:00 1970".
  const line = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/
  return output.split('\n').flatMap((text) => {
    const match = line.exec(text)
    if (!match || match[3]?.startsWith('Z')) return []
    const [, pid, parent, , started = '', command = ''] = match
    return { pid: Number(pid), parent: Number(parent), started, command }
  })
}
