/** `npm run migrate`: applies pending migrations to the database of DATABASE_URL. */
import { ConfigurationError, loadConfig } from '../config/config.ts'
import { startFailure } from '../config/process.ts'
import { migrate } from '../db/orm.ts'

try {
  const { databaseUrl } = loadConfig(process.env)
  if (databaseUrl === null) throw new ConfigurationError(['DATABASE_URL is required'])
  const unprotected = await migrate(databaseUrl)
  console.log('The database is up to date.')
  if (unprotected !== null) console.warn(`without row-level security: ${unprotected} (see the README)`)
} catch (error) {
  console.error(startFailure(error))
  process.exit(1)
}
