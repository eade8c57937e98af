import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Migration } from '@mikro-orm/migrations'
import type { MikroORM } from '@mikro-orm/postgresql'
import pg from 'pg'
import { ulid } from 'ulid'
import { migrations } from '../../db/migrations/index.ts'
import { openOrm } from '../../db/orm.ts'
import { testServices } from '../support/services.ts'
import { ROOT } from './import-graph.ts'

describe('the migrations', () => {
  const name = `test_${ulid().toLowerCase()}`
  let orm: MikroORM

  beforeAll(async () => {
    const { adminUrl, templateName } = testServices()
    await onServer(`create database ${name} template ${pg.escapeIdentifier(templateName)}`)
    orm = await openOrm({ databaseUrl: new URL(`/${name}`, adminUrl).href, poolSize: 2 })
  })
  afterAll(async () => {
    await orm?.close()
    await onServer(`drop database if exists ${name} with (force)`)
  })

  const drift = async () =>
    (await orm.schema.getUpdateSchemaSQL())
      .split('\n')
      // Comments on tables and columns are the migrations' alone.
      .filter((line) => !/^(?:comment on |set names )/.test(line))
      .join('\n')
      .trim()

  test('leave nothing between the entities and the database', async () => {
    expect(await drift()).toBe('')
  })

  test('are all applied, and none is left out of the list', async () => {
    const files = readdirSync(join(ROOT, 'db/migrations')).filter((file) => file.startsWith('Migration'))
    expect(migrations.map((migration) => `${migration.name}.ts`).toSorted()).toEqual(files.toSorted())
    expect(await orm.migrator.getPending()).toEqual([])
  })

  test('make the columns that the benchmarks insert, and demand no others', async () => {
    const columns = await orm.em
      .getConnection()
      .execute<{ table: string; column: string; needed: boolean }[]>(
        `select table_name as "table", column_name as "column",
              is_nullable = 'NO' and column_default is null and is_identity = 'NO' as needed
         from information_schema.columns where table_schema = 'public'`,
      )
    const inserts = readdirSync(join(ROOT, 'bench'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => {
        const text = readFileSync(join(ROOT, 'bench', file), 'utf8')
        return [...text.matchAll(/insert into (\w+) \(([^)$]+)\)/g)].map(([, table = '', list = '']) => ({
          file,
          table,
          given: list.split(',').map((name) => name.trim()),
          known: columns.filter((column) => column.table === table),
        }))
      })
      // A benchmark makes some tables itself.
      .filter(({ known }) => known.length > 0)
    expect(inserts.length).toBeGreaterThan(5)
    for (const { file, table, given, known } of inserts) {
      const names = known.map(({ column }) => column)
      const needed = known.flatMap(({ column, needed: isNeeded }) => (isNeeded ? [column] : []))
      expect({ file, table, unknown: given.filter((name) => !names.includes(name)) }).toMatchObject({
        unknown: [],
      })
      expect({ file, table, lacking: needed.filter((name) => !given.includes(name)) }).toMatchObject({
        lacking: [],
      })
    }
  })

  test('that make an index concurrently first drop it, in case an attempt has failed', () => {
    const made = migrations.flatMap(({ name, class: Applied }) => {
      const migration: Migration = new Applied(orm.em.getDriver(), orm.config)
      migration.up()
      const statements = migration.getQueries().map(String)
      return statements.flatMap((statement, index) => {
        const [, made] = /^create (?:unique )?index concurrently (\w+)/.exec(statement.trim()) ?? []
        if (made === undefined) return []
        const isDropped = statements.slice(0, index).includes(`drop index concurrently if exists ${made}`)
        return [{ name, isDropped, isTransactional: migration.isTransactional() }]
      })
    })
    expect(made.length).toBeGreaterThan(0)
    expect(made.filter(({ isDropped, isTransactional }) => isTransactional || !isDropped)).toEqual([])
  })

  test.each([
    ['a column is missing', 'alter table plans drop column is_active', 'is_active'],
    ['a column has another type', 'alter table plans alter column name type text', '"name"'],
    ['an index is missing', 'drop index events_newest_index', 'events_newest_index'],
    ['a table is too many', 'create table left_behind (id int)', 'left_behind'],
  ])('would be found wanting when %s', async (_, change, mentioned) => {
    await orm.em.getConnection().execute(change)
    expect(await drift()).toContain(mentioned)
  })
})

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: testServices().adminUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
