/**
 * `npm run quarantine` lists; `… -- release <workflow>/<organization>/<record>` advances one again at once, and
 * `… -- release notification/<organization>/<gateway account>/<id>` has a notification processed.
 */
import { loadConfig } from '../config/config.ts'
import { openOrm } from '../db/orm.ts'
import {
  type NotificationKey,
  quarantinedNotifications,
  quarantinedRecords,
  releaseNotification,
  releaseRecord,
} from '../db/quarantine.ts'
import { requireEveryOrganization } from '../db/row-security.ts'
import { recordOf, workflowId } from '../workflows/contract.ts'

const { databaseUrl } = loadConfig(process.env)
const [action = 'list', id = ''] = process.argv.slice(2)
const record = recordOf(id)
const notification = notificationOf(id)
if (databaseUrl === null) exit('DATABASE_URL is required')
else if (action !== 'list' && (action !== 'release' || (record === null && notification === null))) {
  exit(
    'usage: npm run quarantine [-- release <workflow>/<organization>/<record>]\n       npm run quarantine -- release notification/<organization>/<gateway account>/<id>',
  )
} else {
  const orm = await openOrm({ databaseUrl, poolSize: 1, name: 'billing quarantine' })
  try {
    await requireEveryOrganization(orm.em.fork())
    if (action === 'list') await list()
    else if (await release()) console.log(`Released ${id}.`)
    else exit(`${id} is not quarantined.`)
  } finally {
    await orm.close()
  }

  async function release(): Promise<boolean> {
    const em = orm.em.fork()
    if (record !== null) return await releaseRecord(em, record.workflow, record)
    return notification !== null && (await releaseNotification(em, notification))
  }

  async function list(): Promise<void> {
    const records = await quarantinedRecords(orm.em.fork())
    for (const { workflow, organizationId, recordId, count, reason, until } of records) {
      const name = workflowId(workflow, organizationId, recordId)
      console.log(`${name}  failed ${count} times, next ${until.toISOString()}: ${reason}`)
    }
    const notifications = await quarantinedNotifications(orm.em.fork())
    for (const { count, reason, until, ...key } of notifications) {
      console.log(`${nameOf(key)}  failed ${count} times, next ${until.toISOString()}: ${reason}`)
    }
    if (records.length + notifications.length === 0) console.log('No record is quarantined.')
  }
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

function exit(message: string): void {
  console.error(message)
  process.exitCode = 1
}
