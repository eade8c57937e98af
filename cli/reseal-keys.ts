/** `npm run keys:reseal`: encrypts every secret with the first key of MASTER_KEY. The others can then go. */
import { ConfigurationError, loadConfig } from '../config/config.ts'
import { startFailure } from '../config/process.ts'
import { MAINTENANCE_TIMEOUTS } from '../db/connection.ts'
import { openDatabase } from '../db/open.ts'
import { resealAll } from '../db/reseal.ts'

try {
  const { databaseUrl, masterKeys } = loadConfig(process.env)
  if (databaseUrl === null) throw new ConfigurationError(['DATABASE_URL is required'])
  if (masterKeys.length === 0) throw new ConfigurationError(['MASTER_KEY is required'])
  const database = await openDatabase({
    databaseUrl,
    masterKeys,
    poolSize: 2,
    timeouts: MAINTENANCE_TIMEOUTS,
  })
  try {
    const resealed = await resealAll(database.orm.em.fork(), database.vault)
    console.log(`Sealed ${resealed} records anew; every secret is now under the first key of MASTER_KEY.`)
  } finally {
    await database.orm.close()
  }
} catch (error) {
  console.error(startFailure(error))
  process.exit(1)
}
