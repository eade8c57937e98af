/** `npm run migrate`: applies the migrations that DATABASE_URL lacks, and ends. */
import { ConfigurationError, loadConfig } from '../config/config.ts'
import { startFailure } from '../config/process.ts'
import { migrate } from '../db/orm.ts'

try {
  const { databaseUrl } = loadConfig(process.env)
  if (databaseUrl === null) throw new ConfigurationError(['DATABASE_URL is required'])
  await migrate(databaseUrl)
  console.log('the database is up to date')
} catch (error) {
  console.error(startFailure(error))
  process.exit(1)
}
