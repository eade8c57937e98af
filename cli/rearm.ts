/**
 * `npm run rearm`: gives every record with a deadline its execution again, after a restored backup or with a new
 * namespace, and new events positions after all earlier ones. Can be repeated, and is safe beside the running service.
 */
import { ConfigurationError, loadConfig } from '../config/config.ts'
import { startFailure } from '../config/process.ts'
import { WAKE_UP_CHANNEL } from '../db/channels.ts'
import { advancePositions } from '../db/event-positions.ts'
import { openOrm } from '../db/orm.ts'
import { rearm } from '../db/rearm.ts'
import { requireOwnRelease } from '../db/release.ts'
import { requireEveryOrganization } from '../db/row-security.ts'
import { statement } from '../db/statement.ts'
import { WORKFLOW_NAMES } from '../workflows/contract.ts'

try {
  const { databaseUrl } = loadConfig(process.env)
  if (databaseUrl === null) throw new ConfigurationError(['DATABASE_URL is required'])
  const orm = await openOrm({ databaseUrl, poolSize: 1, name: 'billing rearm' })
  try {
    await requireOwnRelease(orm.em.fork())
    await requireEveryOrganization(orm.em.fork())
    console.log(`events: new positions from ${await advancePositions(orm.em.fork())}`)
    for (const workflow of WORKFLOW_NAMES) {
      const written = await rearm(orm.em.fork(), workflow)
      console.log(`${workflow}: ${written} wake-ups written`)
    }
    await statement(orm.em.fork(), 'nudge-relay', `select pg_notify(?, '')`, [WAKE_UP_CHANNEL])
  } finally {
    await orm.close()
  }
} catch (error) {
  console.error(startFailure(error))
  process.exit(1)
}
