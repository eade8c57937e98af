/** The service's own processes, as operators run them, to be killed and started again. */
import { type ChildProcess, spawn } from 'node:child_process'
import { openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { closed, opened } from './open-things.ts'

export interface ServiceProcess {
  /** Starts it, or starts it again; resolves at its line `ready …`. */
  start(): Promise<void>
  /** SIGKILL. */
  kill(): Promise<void>
  /** SIGTERM; resolves with the exit code when it has drained. */
  stop(): Promise<number | null>
}

/** A process of one of the service's mains, its output appended to a file. */
export function serviceProcess(
  main: string,
  env: Readonly<Record<string, string>>,
  logFile: string,
): ServiceProcess {
  const script = fileURLToPath(new URL(`../../${main}`, import.meta.url))
  let child: ChildProcess | null = null
  const gone = async (signal: NodeJS.Signals): Promise<number | null> => {
    const ending = child
    child = null
    if (ending === null) return null
    const exited = new Promise<number | null>((resolve) => ending.once('exit', (code) => resolve(code)))
    if (ending.exitCode !== null) return ending.exitCode
    ending.kill(signal)
    const code = await exited
    closed(self)
    return code
  }
  const self: ServiceProcess = {
    async start() {
      const log = openSync(logFile, 'a')
      const started = spawn(process.execPath, [script], {
        // No balancer has to notice.
        env: { PATH: process.env.PATH, SHUTDOWN_DELAY_SECONDS: '0', ...env },
        stdio: ['ignore', 'pipe', log],
      })
      child = started
      opened(self, main)
      await new Promise<void>((resolve, reject) => {
        let text = ''
        started.stdout?.on('data', (chunk: Buffer) => {
          text = `${text}${chunk}`.slice(-10_000)
          if (text.includes('ready ')) resolve()
        })
        started.once('exit', (code, signal) => {
          reject(new Error(`${main} ended before it was ready (${code ?? signal}): ${text}`))
        })
      })
    },
    kill: async () => void (await gone('SIGKILL')),
    stop: () => gone('SIGTERM'),
  }
  return self
}
