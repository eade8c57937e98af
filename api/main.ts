/** `npm run api`. It needs DATABASE_URL (migrated) and MASTER_KEY. */
import { setTimeout as sleep } from 'node:timers/promises'
import { bootstrap } from '../commands/access/bootstrap.ts'
import { ConfigurationError, differentBaseUrl, differentEnvironment, loadConfig } from '../config/config.ts'
import { createLog } from '../config/log.ts'
import { readMerchantIdentity } from '../config/merchant-identity.ts'
import { runProcess, untilAvailable } from '../config/process.ts'
import { temporalConnection } from '../config/temporal-connection.ts'
import { isInfrastructureFailure } from '../db/infrastructure-failure.ts'
import { otherBaseUrl, otherEnvironment } from '../db/installation.ts'
import { openApiDatabase } from '../db/open.ts'
import { databaseChecks } from '../db/readiness.ts'
import { rowSecurityCheck } from '../db/row-security.ts'
import { ensureSigningKey } from '../delivery/signing-keys.ts'
import { createMetrics } from '../ops/metrics.ts'
import { createReadiness } from '../ops/readiness.ts'
import { startOpsServer } from '../ops/server.ts'
import { startApi } from './api.ts'

/** Seconds in which a load balancer notices that this process is no longer ready. */
const SHUTDOWN_DELAY = 5

await runProcess(async ({ stopping, onDrain }) => {
  const config = loadConfig(process.env, ['BASE_URL'])
  const { databaseUrl, masterKeys, temporalAddress } = config
  if (databaseUrl === null) throw new ConfigurationError(['DATABASE_URL is required'])
  if (masterKeys.length === 0) throw new ConfigurationError(['MASTER_KEY is required'])
  const merchantIdentity = readMerchantIdentity(config)
  const log = createLog(config.logLevel)
  const database = await untilAvailable(
    'The database',
    () =>
      openApiDatabase({ databaseUrl, masterKeys, poolSize: config.databasePoolSize, name: 'billing api' }),
    isInfrastructureFailure,
    stopping,
  )
  onDrain(() => database.orm.close())
  const agreed = await otherBaseUrl(database.orm.em.fork(), config.baseUrl)
  if (agreed !== null) throw differentBaseUrl(config.baseUrl, agreed)
  const other = await otherEnvironment(database.orm.em.fork(), config.environment)
  if (other !== null) throw differentEnvironment(config.environment, other)
  await ensureSigningKey(database.orm.em.fork(), database.vault)
  await bootstrap(database, config, new Date())
  const metrics = createMetrics()
  const temporal =
    config.environment === 'sandbox' && temporalAddress !== null
      ? temporalConnection(temporalAddress, process.env)
      : null
  const readiness = createReadiness({
    stopping,
    required: databaseChecks(database.orm, Date.now),
    degrading: rowSecurityCheck(database.access),
  })
  const api = await startApi(
    { config, ...database, databaseUrl, temporal, readiness, metrics, log, merchantIdentity },
    config,
  )
  onDrain(api.stop)
  const ops = await startOpsServer({
    host: config.opsHost,
    port: config.opsPort,
    metrics,
    readiness,
  })
  onDrain(ops.stop)
  onDrain(async () => {
    if (stopping.reason === 'SIGTERM') await sleep((config.shutdownDelaySeconds ?? SHUTDOWN_DELAY) * 1_000)
  })
  console.log(`ready ${config.baseUrl}`)
})
