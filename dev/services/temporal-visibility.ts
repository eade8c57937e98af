// 74 indexes for lists are most of the work of writing an execution. Kept are those of our attributes and a few
// others; other filters read all executions. Columns are assigned at random, so the namespace is queried.
import { Connection } from '@temporalio/client'
import { registerSearchAttributes } from '../../worker/search-attributes.ts'
import { TEMPORAL_DATABASES } from './temporal-schema.ts'
import { withClient } from './with-client.ts'

const TABLE = 'executions_visibility'
const KEPT_INDEXES = [
  'executions_visibility_pkey',
  'default_idx',
  'by_workflow_id',
  'by_workflow_type',
  'by_status',
]

export type VisibilityOptions = { address: string; namespace: string; postgresUrl: string }

/** Registers our attributes, drops indexes that none of our lists needs, and creates the missing ones. */
export async function fitVisibilityIndexes(options: VisibilityOptions): Promise<void> {
  const columns = await columnsInUse(options)
  const url = new URL(options.postgresUrl)
  url.pathname = `/${TEMPORAL_DATABASES.visibility}`
  await withClient(url.href, async (client) => {
    const { rows } = await client.query<{ indexname: string }>(
      'select indexname from pg_indexes where tablename = $1',
      [TABLE],
    )
    const present = rows.map(({ indexname }) => indexname)
    const wanted = new Map(columns.map((column) => [indexName(column), column]))
    const unused = present.filter((name) => !KEPT_INDEXES.includes(name) && !wanted.has(name))
    if (unused.length > 0) await client.query(`drop index if exists ${unused.join(', ')}`)
    for (const [name, column] of wanted) {
      if (present.includes(name)) continue
      await client.query(
        `create index if not exists ${name} on ${TABLE}
          (namespace_id, ${column}, (coalesce(close_time, '9999-12-31 23:59:59')) desc, start_time desc, run_id)`,
      )
    }
  })
}

/** Returns the columns that attributes of the namespace use, such as Keyword07. */
async function columnsInUse({ address, namespace }: VisibilityOptions): Promise<string[]> {
  const connection = await Connection.connect({ address })
  try {
    return await connection.withDeadline(Date.now() + 60_000, async () => {
      await registerSearchAttributes(connection, namespace)
      const { config } = await connection.workflowService.describeNamespace({ namespace })
      return Object.keys(config?.customSearchAttributeAliases ?? {})
    })
  } finally {
    await connection.close()
  }
}

function indexName(column: string): string {
  const words = column.replace(/(\d+)$/, '_$1').replaceAll(/([a-z])([A-Z])/g, '$1_$2')
  return `by_${words.toLowerCase()}`
}
