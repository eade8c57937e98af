/** `npm run quarantine` lists; `… -- release <workflow>/<organization>/<record>` advances one again at once. */
import { loadConfig } from '../config/config.ts'
import { openOrm } from '../db/orm.ts'
import { quarantinedRecords, releaseRecord } from '../db/quarantine.ts'
import { requireEveryOrganization } from '../db/row-security.ts'
import { recordOf, workflowId } from '../workflows/contract.ts'

const { databaseUrl } = loadConfig(process.env)
const [action = 'list', id = ''] = process.argv.slice(2)
const record = recordOf(id)
if (databaseUrl === null) exit('DATABASE_URL is required')
else if (action !== 'list' && (action !== 'release' || record === null)) {
  exit('usage: npm run quarantine [-- release <workflow>/<organization>/<record>]')
} else {
  const orm = await openOrm({ databaseUrl, poolSize: 1, name: 'billing quarantine' })
  try {
    await requireEveryOrganization(orm.em.fork())
    if (record === null) await list()
    else if (await releaseRecord(orm.em.fork(), record.workflow, record)) console.log(`Released ${id}.`)
    else exit(`${id} is not quarantined.`)
  } finally {
    await orm.close()
  }

  async function list(): Promise<void> {
    const records = await quarantinedRecords(orm.em.fork())
    for (const { workflow, organizationId, recordId, count, reason, until } of records) {
      const name = workflowId(workflow, organizationId, recordId)
      console.log(`${name}  failed ${count} times, next ${until.toISOString()}: ${reason}`)
    }
    if (records.length === 0) console.log('No record is quarantined.')
  }
}

function exit(message: string): void {
  console.error(message)
  process.exitCode = 1
}
