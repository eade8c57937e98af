/** `npm run base-url:change -- <url>`, while no process runs. Receivers must then expect the new `iss`. */
import { ConfigurationError, loadConfig } from '../config/config.ts'
import { startFailure } from '../config/process.ts'
import { changeBaseUrl } from '../db/installation.ts'
import { openOrm } from '../db/orm.ts'
import { requireOwnRelease } from '../db/release.ts'

try {
  const url = process.argv[2]?.trim()
  // An empty variable of a shell, which as `BASE_URL` would stand for the default.
  if (!url) throw new Error('usage: npm run base-url:change -- <url>')
  const { databaseUrl, baseUrl } = loadConfig({ ...process.env, BASE_URL: url })
  if (databaseUrl === null) throw new ConfigurationError(['DATABASE_URL is required'])
  const orm = await openOrm({ databaseUrl, poolSize: 1 })
  try {
    await requireOwnRelease(orm.em.fork())
    await changeBaseUrl(orm.em.fork(), baseUrl)
  } finally {
    await orm.close()
  }
  console.log(`Start every process with BASE_URL=${baseUrl} now.`)
} catch (error) {
  console.error(startFailure(error))
  process.exit(1)
}
