import { join } from 'node:path'
import { runProgram } from './run-program.ts'
import { type DynamicConfig, dynamicConfigArguments } from './temporal-settings.ts'

/** The first server that can skip time in single executions. */
const OLDEST_SERVER = [1, 32] as const

/** `found` describes what the PATH has instead of a `temporal` CLI with a new enough server. */
export async function findTemporalCli(signal?: AbortSignal): Promise<{ usable: boolean; found: string }> {
  try {
    const output = await runProgram('temporal', ['--version'], { signal })
    const version = /Server (\d+)\.(\d+)/.exec(output)
    const [major, minor] = [Number(version?.[1]), Number(version?.[2])]
    const usable = major > OLDEST_SERVER[0] || (major === OLDEST_SERVER[0] && minor >= OLDEST_SERVER[1])
    return { usable, found: output.trim() }
  } catch (error) {
    signal?.throwIfAborted()
    return { usable: false, found: error instanceof Error ? error.message : String(error) }
  }
}

export type CliOptions = {
  dataDir: string
  port: number
  uiPort: number | null
  httpPort: number
  metricsPort: number
  dynamicConfig?: DynamicConfig | undefined
}

export function temporalCliCommand(options: CliOptions) {
  const args = [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--log-level', 'warn'],
    ...['--port', String(options.port), '--http-port', String(options.httpPort)],
    ...['--metrics-port', String(options.metricsPort)],
    ...(options.uiPort === null
      ? ['--headless']
      : ['--ui-ip', '127.0.0.1', '--ui-port', String(options.uiPort)]),
    ...['--db-filename', join(options.dataDir, 'temporal.db')],
    ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
    ...dynamicConfigArguments(options.dynamicConfig),
  ]
  return { file: 'temporal', args, env: { PATH: process.env.PATH, HOME: process.env.HOME } }
}
