// A pid file that cannot be mistaken: it holds the process's start time beside its id, so that a later process that
// was given the same id is not taken for the noted one.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { type ProcessFacts, processFacts } from './processes.ts'

/** Notes a running process. */
export function notePid(file: string, pid: number): void {
  const started = processFacts(pid)?.started ?? ''
  writeFileSync(`${file}.new`, JSON.stringify({ pid, started }))
  renameSync(`${file}.new`, file)
}

/** The noted process, if it still runs; null when it is gone, when there is no note or when it cannot be read. */
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
