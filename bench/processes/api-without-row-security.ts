/** The API as the tables' owner, whom no policy holds to an organization, and without the setting of one. */

import { startApi } from '../../api/api.ts'
import { loadConfig } from '../../config/config.ts'
import { createLog } from '../../config/log.ts'
import { runProcess } from '../../config/process.ts'
import { openDatabase } from '../../db/open.ts'
import { createMetrics } from '../../ops/metrics.ts'
import { createReadiness } from '../../ops/readiness.ts'

await runProcess(async ({ stopping, onDrain }) => {
  const config = loadConfig(process.env, ['BASE_URL'])
  const { databaseUrl, masterKeys } = config
  if (databaseUrl === null) throw new Error('DATABASE_URL is required')
  const database = await openDatabase({ databaseUrl, masterKeys, name: 'billing api' })
  onDrain(() => database.orm.close())
  const api = await startApi(
    {
      config,
      ...database,
      access: { role: null, unprotected: 'measured without' },
      databaseUrl,
      temporal: null,
      readiness: createReadiness({ stopping, required: {} }),
      metrics: createMetrics(),
      log: createLog(config.logLevel),
      merchantIdentity: null,
    },
    config,
  )
  onDrain(api.stop)
  console.log(`ready ${config.baseUrl}`)
})
