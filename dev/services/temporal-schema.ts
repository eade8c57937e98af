import { runProgram } from './run-program.ts'
import { withClient } from './with-client.ts'

export const TEMPORAL_DATABASES = { main: 'temporal', visibility: 'temporal_visibility' } as const

/** The schema versions that the server built here expects (schema/postgresql/v12/version.go). */
const SCHEMAS = [
  { database: TEMPORAL_DATABASES.main, schema: 'postgresql/v12/temporal', version: '1.19' },
  { database: TEMPORAL_DATABASES.visibility, schema: 'postgresql/v12/visibility', version: '1.14' },
] as const

type Schema = (typeof SCHEMAS)[number]

/** Creates Temporal's databases, complete or not at all. The user must be allowed to create databases. */
export async function ensureTemporalSchema(
  postgresUrl: string,
  sqlTool: string,
  signal?: AbortSignal,
): Promise<void> {
  const made = await Promise.allSettled(
    SCHEMAS.map((schema) => ensureDatabase(postgresUrl, sqlTool, schema, signal)),
  )
  for (const result of made) if (result.status === 'rejected') throw result.reason
}

async function ensureDatabase(postgresUrl: string, sqlTool: string, schema: Schema, signal?: AbortSignal) {
  await withClient(postgresUrl, async (client) => {
    const found = await client.query('select from pg_database where datname = $1', [schema.database])
    if (found.rowCount) return
    // Set up under another name, so that an aborted start leaves no incomplete database behind.
    const draft = `${schema.database}_new`
    await client.query(`drop database if exists ${draft}`)
    await client.query(`create database ${draft}`)
    await setUpSchema(postgresUrl, sqlTool, draft, schema, signal)
    await withClient(databaseUrl(postgresUrl, draft), (inDraft) =>
      inDraft.query('update schema_version set db_name = $1', [schema.database]),
    )
    await client.query(`alter database ${draft} rename to ${schema.database}`)
  })
}

async function setUpSchema(
  postgresUrl: string,
  sqlTool: string,
  database: string,
  schema: Schema,
  signal?: AbortSignal,
) {
  const { hostname, port, username, password } = new URL(postgresUrl)
  const connection = ['--plugin', 'postgres12', '--ep', hostname, '--port', port || '5432']
  const args = [
    ...connection,
    ...['--user', decodeURIComponent(username), '--database', database],
    ...['setup-schema', '--schema-name', schema.schema, '--version', schema.version],
  ]
  const env = {
    PATH: process.env.PATH,
    SQL_PASSWORD: decodeURIComponent(password),
    PGOPTIONS: '-c synchronous_commit=off',
  }
  await runProgram(sqlTool, args, { env, signal })
}

function databaseUrl(postgresUrl: string, database: string): string {
  const url = new URL(postgresUrl)
  url.pathname = `/${database}`
  return url.href
}
