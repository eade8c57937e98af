import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { Migration } from '@mikro-orm/migrations'
import pg from 'pg'
import { ulid } from 'ulid'
import { Organization } from '../../db/entities/index.ts'
import { migrations } from '../../db/migrations/index.ts'
import { openApiDatabase } from '../../db/open.ts'
import { inOrganization } from '../../db/organization-scope.ts'
import { migrate } from '../../db/orm.ts'
import { API_ROLE } from '../../db/row-security.ts'
import { testServices } from '../support/services.ts'

let databaseUrl: string
let client: pg.Client

beforeEach(async () => {
  const { adminUrl, templateName } = testServices()
  const name = `test_${ulid().toLowerCase()}`
  await onServer(`create database ${name} template ${pg.escapeIdentifier(templateName)}`)
  databaseUrl = new URL(`/${name}`, adminUrl).href
  client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
})
afterEach(async () => {
  await client.end()
  await onServer(`drop database ${new URL(databaseUrl).pathname.slice(1)} with (force)`)
})

async function onServer(statement: string): Promise<void> {
  const admin = new pg.Client({ connectionString: testServices().adminUrl })
  await admin.connect()
  try {
    await admin.query(statement)
  } finally {
    await admin.end()
  }
}

/** Needs a moment, so that the other processes wait for it, and then an index. */
class MigrationOfTest extends Migration {
  override name = 'Migration20991231000000_of_test'

  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    this.addSql('select pg_sleep(1)')
    this.addSql('create index concurrently of_test_index on websites (organization_id, name)')
  }
}

async function withMigration<T>(work: () => Promise<T>): Promise<T> {
  const added = { name: 'Migration20991231000000_of_test', class: MigrationOfTest }
  ;(migrations as { name: string; class: new (...args: never[]) => Migration }[]).push(added)
  try {
    return await work()
  } finally {
    migrations.pop()
  }
}

test('an index is made concurrently while other processes wait to migrate', async () => {
  const started = Date.now()
  const results = await withMigration(
    async () => await Promise.all([1, 2, 3].map(async () => await migrate(databaseUrl))),
  )
  expect(results).toEqual([null, null, null])
  // A waiting process that held a snapshot would stop the index until a lock's time limit of 30 seconds.
  expect(Date.now() - started).toBeLessThan(20_000)
  const { rows } = await client.query(
    `select indisvalid as valid from pg_index where indexrelid = 'of_test_index'::regclass`,
  )
  expect(rows).toEqual([{ valid: true }])
}, 120_000)

test.each([
  ['its index', ''],
  [
    'an index that is not complete',
    `alter table invoices drop constraint invoices_number_unique;
     create unique index invoices_number_unique on invoices (organization_id, invoice_number);
     update pg_index set indisvalid = false where indexrelid::regclass::text = any ($indexes)`,
  ],
])('a migration without a transaction succeeds after an attempt that left %s', async (_, damage) => {
  const indexes = [
    'transactions_website_index',
    'invoices_number_unique',
    'transactions_gateway_id_index',
    'payment_instruments_reference_index',
    'payment_instruments_expiry_index',
  ]
  await client.query(damage.replace('$indexes', `'{${indexes.join()}}'`))
  const { rowCount } = await client.query(
    `delete from schema_migrations where name ~ 'by_website|are_unique|by_gateway_id|by_gateway_reference|by_expiry'`,
  )
  expect(rowCount).toBe(indexes.length)
  expect(await migrate(databaseUrl)).toBeNull()
  const { rows } = await client.query<{ name: string }>(
    `select indexrelid::regclass::text as name from pg_index where indisvalid and indexrelid::regclass::text = any ($1)`,
    [indexes],
  )
  expect(rows.map(({ name }) => name).toSorted()).toEqual(indexes.toSorted())
  const { rowCount: constraints } = await client.query(
    `select from pg_constraint where conname = 'invoices_number_unique' and contype = 'u'`,
  )
  expect(constraints).toBe(1)
})

test('a new table of organizations is protected once the database is migrated', async () => {
  const policies = async () =>
    (await client.query("select polname from pg_policy where polrelid = 'of_test'::regclass order by 1")).rows
  await client.query('create table of_test (organization_id text not null, id text not null)')
  expect(await policies()).toEqual([])
  expect(await migrate(databaseUrl)).toBeNull()
  expect(await policies()).toEqual([{ polname: 'every_organization' }, { polname: 'organization' }])
  await client.query("insert into of_test values ('org_a', '1'), ('org_b', '2')")
  await client.query('begin')
  await client.query(
    "select set_config('role', 'billing_api', true), set_config('billing.organization', 'org_a', true)",
  )
  expect((await client.query('select id from of_test')).rows).toEqual([{ id: '1' }])
  expect((await client.query('select (listed).id from lists.of_test')).rows).toEqual([{ id: '1' }])
  await client.query('rollback')
})

test('a database of an earlier release is protected, and its rows are there', async () => {
  await client.query(`
    drop schema lists cascade;
    drop function find_api_key;
    delete from schema_migrations where name like '%find_api_key';
    do $$ declare policy record; begin
      for policy in select polname, polrelid::regclass::text as name from pg_policy loop
        execute format('drop policy %I on %s', policy.polname, policy.name);
        execute format('alter table %s disable row level security', policy.name);
      end loop;
    end $$;
    insert into organizations (id, name, settings, created_time, updated_time)
      values ('org_a', 'A', '{}', now(), now()), ('org_b', 'B', '{}', now(), now())`)
  expect(await unprotectedTables()).toContain('organizations')
  expect(await migrate(databaseUrl)).toBeNull()
  expect(await unprotectedTables()).toEqual([])
  const masterKeys = [randomBytes(32).toString('base64')]
  const { orm, access } = await openApiDatabase({ databaseUrl, masterKeys })
  const organizations = () => orm.em.fork().find(Organization, {}, { fields: ['id'] })
  expect(access).toEqual({ role: API_ROLE, unprotected: null })
  expect(await inOrganization('org_a', organizations)).toMatchObject([{ id: 'org_a' }])
  expect(await inOrganization('org_b', organizations)).toMatchObject([{ id: 'org_b' }])
  expect(await organizations()).toEqual([])
  await orm.close()
})

async function unprotectedTables(): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select table_name as name from information_schema.columns join pg_class on relname = table_name
      where table_schema = 'public' and relnamespace = 'public'::regnamespace
        and (column_name = 'organization_id' or table_name = 'organizations' and column_name = 'id')
        and not (relrowsecurity and exists (select from pg_policy where polrelid = pg_class.oid))`,
  )
  return rows.map(({ name }) => name)
}
