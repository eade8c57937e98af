import { ConfigurationError, differentBaseUrl, differentEnvironment, loadConfig } from '../config/config.ts'
import { createLog } from '../config/log.ts'
import { runProcess, untilAvailable } from '../config/process.ts'
import { temporalConnection } from '../config/temporal-connection.ts'
import { isInfrastructureFailure } from '../db/infrastructure-failure.ts'
import { otherBaseUrl, otherEnvironment } from '../db/installation.ts'
import { openDatabase } from '../db/open.ts'
import { databaseChecks } from '../db/readiness.ts'
import { sealPlainHeaders } from '../delivery/seal-headers.ts'
import { ensureSigningKey } from '../delivery/signing-keys.ts'
import { createMetrics } from '../ops/metrics.ts'
import { createReadiness } from '../ops/readiness.ts'
import { startOpsServer } from '../ops/server.ts'
import { workflowBundle } from './bundle.ts'
import { installTemporalRuntime } from './temporal.ts'
import { endStalled } from './watchdog.ts'
import { startWorker } from './worker.ts'

const POOL_SIZE = 30

await runProcess(async ({ stopping, onDrain }) => {
  const config = loadConfig(process.env, ['BASE_URL'])
  const { databaseUrl, masterKeys, temporalAddress } = config
  if (databaseUrl === null) throw new ConfigurationError(['DATABASE_URL is required'])
  if (masterKeys.length === 0) throw new ConfigurationError(['MASTER_KEY is required'])
  if (temporalAddress === null) throw new ConfigurationError(['TEMPORAL_ADDRESS is required'])
  const log = createLog(config.logLevel)
  installTemporalRuntime(log)
  const bundle = await workflowBundle()
  const database = await untilAvailable(
    'The database',
    () =>
      openDatabase({
        databaseUrl,
        masterKeys,
        poolSize: config.databasePoolSize ?? POOL_SIZE,
        name: 'billing worker',
      }),
    isInfrastructureFailure,
    stopping,
  )
  onDrain(() => database.orm.close())
  const agreed = await otherBaseUrl(database.orm.em.fork(), config.baseUrl)
  if (agreed !== null) throw differentBaseUrl(config.baseUrl, agreed)
  const other = await otherEnvironment(database.orm.em.fork(), config.environment)
  if (other !== null) throw differentEnvironment(config.environment, other)
  await ensureSigningKey(database.orm.em.fork(), database.vault)
  await sealPlainHeaders(database.orm.em.fork(), database.vault)
  const metrics = createMetrics()
  const worker = startWorker({
    config,
    ...database,
    databaseUrl,
    temporal: temporalConnection(temporalAddress, process.env),
    workflowBundle: bundle,
    metrics,
    log,
    onStalled: endStalled,
  })
  onDrain(worker.stop)
  const readiness = createReadiness({
    stopping,
    required: { ...databaseChecks(database.orm, Date.now), ...worker.required },
    degrading: worker.checks,
  })
  const ops = await startOpsServer({
    host: config.opsHost,
    port: config.opsPort,
    metrics,
    readiness,
  })
  onDrain(ops.stop)
  console.log('ready worker')
})
