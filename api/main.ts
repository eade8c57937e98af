/** The API as a process of its own: `npm run api`. Needs DATABASE_URL (migrated) and MASTER_KEY. */
import { ConfigurationError, loadConfig } from '../config/config.ts'
import { createLog } from '../config/log.ts'
import { runProcess, untilAvailable } from '../config/process.ts'
import { temporalConnection } from '../config/temporal-connection.ts'
import { bootstrap } from '../db/bootstrap.ts'
import { openDatabase } from '../db/open.ts'
import { isReady } from '../db/readiness.ts'
import { ensureSigningKey } from '../delivery/signing-keys.ts'
import { createMetrics } from '../ops/metrics.ts'
import { startOpsServer } from '../ops/server.ts'
import { startApi } from './api.ts'

await runProcess(async ({ stopping, onDrain }) => {
  const config = loadConfig(process.env)
  const { databaseUrl, masterKeys, temporalAddress } = config
  if (databaseUrl === null) throw new ConfigurationError(['DATABASE_URL is required'])
  if (masterKeys.length === 0) throw new ConfigurationError(['MASTER_KEY is required'])
  const log = createLog(config.logLevel)
  const database = await untilAvailable(
    'The database',
    () => openDatabase({ databaseUrl, masterKeys, name: 'billing api' }),
    stopping,
  )
  onDrain(() => database.orm.close())
  await ensureSigningKey(database.orm.em.fork(), database.vault, new Date())
  await bootstrap(database, config, new Date())
  const metrics = createMetrics()
  const temporal =
    config.environment === 'sandbox' && temporalAddress !== null ? temporalConnection(temporalAddress) : null
  const api = await startApi({ config, ...database, databaseUrl, temporal, metrics, log }, config)
  onDrain(api.stop)
  const ops = await startOpsServer({
    host: config.host,
    port: config.opsPort,
    metrics,
    isReady: () => isReady(database.orm),
  })
  onDrain(ops.stop)
  console.log(`ready ${config.baseUrl}`)
})
