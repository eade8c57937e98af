/** `npm run organization:create -- <name>`: prints its keys, once. */

import { createOrganization } from '../commands/access/create-organization.ts'
import { ConfigurationError, differentEnvironment, loadConfig } from '../config/config.ts'
import { startFailure } from '../config/process.ts'
import { keptEnvironment } from '../db/installation.ts'
import { newId } from '../db/new-id.ts'
import { openDatabase } from '../db/open.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'

try {
  const name = process.argv[2]?.trim()
  if (!name) throw new Error('usage: npm run organization:create -- <name>')
  const { databaseUrl, masterKeys, environment, baseUrl } = loadConfig(process.env)
  if (databaseUrl === null) throw new ConfigurationError(['DATABASE_URL is required'])
  if (masterKeys.length === 0) throw new ConfigurationError(['MASTER_KEY is required'])
  const database = await openDatabase({ databaseUrl, masterKeys, poolSize: 2 })
  try {
    const kept = await keptEnvironment(database.orm.em.fork())
    // Keys of the other environment would be refused by every process of this database.
    if (kept !== null && kept !== environment) throw differentEnvironment(environment, kept)
    const tenant = { organizationId: newId('org'), baseUrl, now: new Date() }
    const keys = await inUnitOfWork(database.orm.em.fork(), tenant, (unit) =>
      createOrganization(unit, { ...database, environment }, { name }),
    )
    console.log(`Organization    ${keys.organizationId}`)
    console.log(`Secret key      ${keys.secretKey}`)
    console.log(`Publishable key ${keys.publishableKey}`)
  } finally {
    await database.orm.close()
  }
} catch (error) {
  console.error(startFailure(error))
  process.exit(1)
}
