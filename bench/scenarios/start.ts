import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../dev/services/ports.ts'
import { stopStalePostmaster } from '../../dev/services/postgres-stop.ts'
import { stopStaleTemporal } from '../../dev/services/temporal.ts'
import type { Metric } from '../metric.ts'
import { startProgram } from '../program.ts'
import type { Teardown } from '../teardown.ts'
import type { ScenarioContext } from './scenario.ts'

/** The first, unmeasured start may have to build Temporal. Milliseconds. */
const BUILT_WITHIN = 1_200_000
const READY_WITHIN = 120_000

export async function start(context: ScenarioContext): Promise<Metric[]> {
  const { endEnvironment, directory, divisor, say } = context
  await endEnvironment()
  const rounds = divisor === 1 ? 3 : 1
  const dataDir = (round: number): string => join(directory, `data-${round}`)
  await startOnce(dataDir(0), BUILT_WITHIN, context.teardown)
  const cold: number[] = []
  const warm: number[] = []
  for (let round = 1; round <= rounds; round += 1) {
    cold.push(await startOnce(dataDir(round), READY_WITHIN, context.teardown))
    warm.push(await startOnce(dataDir(round), READY_WITHIN, context.teardown))
    say(`start ${round}/${rounds}: cold ${cold.at(-1)?.toFixed(1)} s, warm ${warm.at(-1)?.toFixed(1)} s`)
  }
  const shared = { unit: 's', baseline: [], aim: null, beside: {} } as const
  return [
    {
      ...shared,
      what: 'start to ready, cold',
      service: cold,
      note: 'Empty data directory: clusters, schemas, migrations and demo organization are made.',
    },
    {
      ...shared,
      what: 'start to ready, warm',
      service: warm,
      note: 'A second start on the same data directory.',
    },
  ]
}

async function startOnce(dataDir: string, readyWithin: number, teardown: Teardown): Promise<number> {
  mkdirSync(dataDir, { recursive: true })
  // The local services have their own process groups and would outlive a killed start.
  const stopLeftovers = async (): Promise<void> => {
    await stopStaleTemporal(join(dataDir, 'temporal'))
    await stopStalePostmaster(join(dataDir, 'postgres', 'cluster', 'data'))
  }
  teardown.add(stopLeftovers)
  const program = await startProgram(
    {
      script: 'dev/start.ts',
      env: {
        ...withoutSettings(process.env),
        DATA_DIR: dataDir,
        PORT: String(await freePort()),
        OPS_PORT: String(await freePort()),
        LOCAL_TEMPORAL_PORT: String(await freePort()),
        LOCAL_TEMPORAL_UI_PORT: String(await freePort()),
        LOG_LEVEL: 'info',
      },
      logFile: join(dataDir, 'start.log'),
      readyWithin,
    },
    teardown,
  )
  if (!(await program.stop())) {
    await stopLeftovers()
    throw new Error('the service did not stop by itself and was killed')
  }
  return program.readyAfter / 1000
}

export function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const settings =
    /^(TEMPORAL_|BOOTSTRAP_|WEBHOOK_|RATE_)|^(DATABASE_URL|MASTER_KEY|BASE_URL|HOST|ENVIRONMENT|TRUST_PROXY)$/
  return Object.fromEntries(Object.entries(env).filter(([name]) => !settings.test(name)))
}
