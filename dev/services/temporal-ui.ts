import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { portResponds } from './ports.ts'
import { killLocal, type LocalProcess, spawnLocal } from './service-process.ts'

export type UiOptions = {
  program: string
  dataDir: string
  pidFile: string
  temporalAddress: string
  namespace: string
  port: number
  signal?: AbortSignal | undefined
}

export async function startTemporalUi(options: UiOptions): Promise<LocalProcess> {
  const folder = join(options.dataDir, 'ui')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'local.yaml'), configuration(options))
  const ui = await spawnLocal({
    file: options.program,
    args: ['--root', options.dataDir, '--config', 'ui', '--env', 'local', 'start'],
    env: { PATH: process.env.PATH },
    logFile: join(options.dataDir, 'logs', 'temporal-ui.log'),
    pidFile: options.pidFile,
    whenAbandoned: [{ signal: 'SIGTERM', wait: 2_000 }],
  })
  if (await portResponds(options.port, 15_000, () => ui.hasExited() || options.signal?.aborted === true))
    return ui
  await killLocal(ui.pid)
  options.signal?.throwIfAborted()
  throw new Error('The Temporal UI does not start; its log is in logs/temporal-ui.log of its data directory.')
}

function configuration({ temporalAddress, namespace, port }: UiOptions): string {
  return [
    `temporalGrpcAddress: ${temporalAddress}`,
    'host: 127.0.0.1',
    `port: ${port}`,
    'enableUi: true',
    `defaultNamespace: ${JSON.stringify(namespace)}`,
    'disableNewsFetch: true',
    'cors:',
    '  allowOrigins:',
    `    - http://127.0.0.1:${port}`,
    '',
  ].join('\n')
}
