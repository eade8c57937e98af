// A pid file with the process's start time beside its id, so that a later process with the same id is not mistaken for
// the recorded one.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { type ProcessFacts, processFacts } from './processes.ts'

/** Records a running process. */
export function notePid(file: string, pid: number): void {
  const started = processFacts(pid)?.started ?? ''
  writeFileSync(`${file}.new`, JSON.stringify({ pid, started }))
  renameSync(`${file}.new`, file)
}

/** Returns the recorded process if it still runs; null if it has ended, or if the file is missing or unreadable. */
export function notedProcess(file: string): ProcessFacts | null {
  try {
    const note: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof note !== 'object' || note === null || !('pid' in note) || !('started' in note)) return null
    const facts = typeof note.pid === 'number' ? processFacts(note.pid) : null
    return facts?.started === note.started ? facts : null
  } catch {
    return null
  }
}
