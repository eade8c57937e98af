import { spawn } from 'node:child_process'
import { sendSignal } from './processes.ts'

export type RunOptions = {
  env?: NodeJS.ProcessEnv
  cwd?: string
  account?: { uid: number; gid: number } | null
  signal?: AbortSignal | undefined
  onLine?: (line: string) => void
}

const KEPT_OUTPUT = 4000

/** Rejects with the output's last part on failure. An abort ends the program with all of its children. */
export function runProgram(file: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    options.signal?.throwIfAborted()
    let output = ''
    const child = spawn(file, args, {
      cwd: options.cwd ?? '/',
      env: options.env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      ...(options.account ?? {}),
    })
    let killer: NodeJS.Timeout | undefined
    const giveUp = () => {
      const { pid } = child
      if (pid === undefined) return
      sendSignal(-pid, 'SIGINT')
      killer = setTimeout(() => sendSignal(-pid, 'SIGKILL'), 3000)
    }
    options.signal?.addEventListener('abort', giveUp, { once: true })
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-KEPT_OUTPUT)
        if (options.onLine) for (const line of text.split('\n')) if (line.trim()) options.onLine(line)
      })
    }
    const finish = (complete: () => void) => {
      clearTimeout(killer)
      options.signal?.removeEventListener('abort', giveUp)
      complete()
    }
    child.once('error', (error) => finish(() => reject(error)))
    child.once('close', (code, killedBy) =>
      finish(() => {
        if (options.signal?.aborted) reject(options.signal.reason)
        else if (code === 0) resolve(output)
        else reject(new Error(`${file} failed (${killedBy ?? `exit code ${code}`}).\n${output.trim()}`))
      }),
    )
  })
}
