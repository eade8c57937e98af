import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { closed, opened } from './open-things.ts'

export interface ServiceProcess {
  /** Starts or restarts the process, with `env` besides its own; resolves at its line `ready …`. */
  start(env?: Readonly<Record<string, string>>): Promise<void>
  isRunning(): boolean
  /** SIGSTOP: it keeps its connections and does nothing. */
  pause(): void
  resume(): void
  kill(): Promise<void>
  /** SIGTERM; resolves with the exit code when it has drained. */
  stop(): Promise<number | null>
}

export function serviceProcess(
  main: string,
  env: Readonly<Record<string, string>>,
  logFile: string,
): ServiceProcess {
  const script = fileURLToPath(new URL(`../../${main}`, import.meta.url))
  let child: ChildProcess | null = null
  const hasEnded = (one: ChildProcess): boolean => one.exitCode !== null || one.signalCode !== null
  const gone = async (signal: NodeJS.Signals): Promise<number | null> => {
    const ending = child
    child = null
    if (ending === null) return null
    if (!hasEnded(ending)) {
      const exited = new Promise<void>((resolve) => ending.once('exit', () => resolve()))
      ending.kill(signal)
      ending.kill('SIGCONT')
      await exited
    }
    closed(self)
    return ending.exitCode
  }
  const self: ServiceProcess = {
    async start(more = {}) {
      const log = openSync(logFile, 'a')
      const started = spawn(process.execPath, [script], {
        env: { PATH: process.env.PATH, SHUTDOWN_DELAY_SECONDS: '0', ...env, ...more },
        stdio: ['ignore', 'pipe', log],
      })
      closeSync(log)
      child = started
      opened(self, main)
      await new Promise<void>((resolve, reject) => {
        let text = ''
        started.stdout?.on('data', (chunk: Buffer) => {
          appendFileSync(logFile, chunk)
          text = `${text}${chunk}`.slice(-10_000)
          if (text.includes('ready ')) resolve()
        })
        started.once('exit', (code, signal) => {
          reject(new Error(`${main} ended before it was ready (${code ?? signal}): ${text}`))
        })
      })
    },
    isRunning: () => child !== null && !hasEnded(child),
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    kill: async () => void (await gone('SIGKILL')),
    stop: () => gone('SIGTERM'),
  }
  return self
}
