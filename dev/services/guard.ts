// Ends a local service whose launcher was killed: the launcher's end closes the pipe that the guard reads. The
// guard is a shell in its own session, out of reach of signals to the launcher's process group.
import { spawn } from 'node:child_process'
import type { StopStep } from './processes.ts'

/** A line on the pipe: the service has ended, and another process may get its id. */
const RELEASE = 'ended\n'

// Standard input is the pipe. $1 is the service, followed by pairs of a signal and its time in seconds.
const SCRIPT = `
pid=$1; shift
read -r line && exit 0
while [ $# -gt 0 ]; do
  kill -s "$1" "$pid" 2>/dev/null || exit 0
  left=$2; shift 2
  while [ "$left" -gt 0 ]; do
    sleep 1
    kill -0 "$pid" 2>/dev/null || exit 0
    left=$((left - 1))
  done
done
kill -s KILL "$pid" 2>/dev/null
`

export type Guard = {
  release(): void
}

/** Starts the guard of a process, listed as `name`. Windows has none: the next start ends what remains. */
export function guard(pid: number, name: string, steps: readonly StopStep[]): Guard {
  if (process.platform === 'win32') return { release: () => {} }
  const args = steps.flatMap(({ signal, wait }) => [
    signal.replace(/^SIG/, ''),
    String(Math.ceil(wait / 1000)),
  ])
  const shell = spawn('/bin/sh', ['-c', SCRIPT, `guard of ${name}`, String(pid), ...args], {
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  shell.on('error', () => {})
  shell.unref()
  shell.stdin.on('error', () => {})
  if ('unref' in shell.stdin && typeof shell.stdin.unref === 'function') shell.stdin.unref()
  return { release: () => void shell.stdin.end(RELEASE) }
}
