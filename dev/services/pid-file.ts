// The process's start time stands beside its id: a later process with the same id is not mistaken for it.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { type ProcessFacts, processFacts } from './processes.ts'

export function recordPid(file: string, pid: number): void {
  const started = processFacts(pid)?.started ?? ''
  writeFileSync(`${file}.new`, JSON.stringify({ pid, started }))
  renameSync(`${file}.new`, file)
}

/** Returns the recorded process if it still runs. */
export function recordedProcess(file: string): ProcessFacts | null {
  try {
    const recorded: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof recorded !== 'object' || recorded === null || !('pid' in recorded) || !('started' in recorded))
      return null
    const facts = typeof recorded.pid === 'number' ? processFacts(recorded.pid) : null
    return facts?.started === recorded.started ? facts : null
  } catch {
    return null
  }
}
