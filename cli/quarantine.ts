/**
 * `npm run quarantine` lists; `… -- release <workflow>/<organization>/<record>` advances one again at once, and
 * `… -- release notification/<organization>/<gateway account>/<id>` has a notification processed.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import { ConfigurationError, loadConfig } from '../config/config.ts'
import { startFailure } from '../config/process.ts'
import { openOrm } from '../db/orm.ts'
import {
  type NotificationKey,
  quarantinedNotifications,
  quarantinedRecords,
  releaseNotification,
  releaseRecord,
} from '../db/quarantine.ts'
import { requireOwnRelease } from '../db/release.ts'
import { requireEveryOrganization } from '../db/row-security.ts'
import { recordOf, workflowId } from '../workflows/contract.ts'

const USAGE = `usage: npm run quarantine [-- release <workflow>/<organization>/<record>]
       npm run quarantine -- release notification/<organization>/<gateway account>/<id>`

try {
  const [action = 'list', id = ''] = process.argv.slice(2)
  const { databaseUrl } = loadConfig(process.env)
  if (databaseUrl === null) throw new ConfigurationError(['DATABASE_URL is required'])
  const release = action === 'release' ? releaseOf(id) : null
  if (action !== 'list' && release === null) throw new Error(USAGE)
  const orm = await openOrm({ databaseUrl, poolSize: 1, name: 'billing quarantine' })
  try {
    await requireOwnRelease(orm.em.fork())
    await requireEveryOrganization(orm.em.fork())
    if (release === null) await list(orm.em.fork())
    else if (await release(orm.em.fork())) console.log(`Released ${id}.`)
    else throw new Error(`${id} is not quarantined.`)
  } finally {
    await orm.close()
  }
} catch (error) {
  console.error(startFailure(error))
  process.exit(1)
}

/** Returns null if the name is neither that of a record nor of a notification. */
function releaseOf(name: string): ((em: EntityManager) => Promise<boolean>) | null {
  const record = recordOf(name)
  if (record !== null) return (em) => releaseRecord(em, record.workflow, record)
  const notification = notificationOf(name)
  return notification === null ? null : (em) => releaseNotification(em, notification)
}

async function list(em: EntityManager): Promise<void> {
  const records = await quarantinedRecords(em)
  for (const { workflow, organizationId, recordId, count, reason, until } of records) {
    const name = workflowId(workflow, organizationId, recordId)
    console.log(`${name}  failed ${count} times, next ${until.toISOString()}: ${reason}`)
  }
  const notifications = await quarantinedNotifications(em)
  for (const { count, reason, until, ...key } of notifications) {
    console.log(`${nameOf(key)}  failed ${count} times, next ${until.toISOString()}: ${reason}`)
  }
  if (records.length + notifications.length === 0) console.log('No record is quarantined.')
}

function nameOf({ organizationId, gatewayAccountId, id }: NotificationKey): string {
  return `notification/${organizationId}/${gatewayAccountId}/${id}`
}

/** The id is the provider's, and may have slashes. */
function notificationOf(name: string): NotificationKey | null {
  const [kind, organizationId, gatewayAccountId, ...id] = name.split('/')
  if (kind !== 'notification' || !organizationId || gatewayAccountId === undefined || id.length === 0)
    return null
  return { organizationId, gatewayAccountId, id: id.join('/') }
}
