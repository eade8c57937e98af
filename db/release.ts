/** A process works with a database that is migrated to its own release, neither to an earlier nor to a later one. */
import type { EntityManager } from '@mikro-orm/postgresql'
import { ConfigurationError } from '../config/config.ts'
import { migrations } from './migrations/index.ts'
import { statement } from './statement.ts'

/** @throws ConfigurationError that says what an operator has to do. */
export async function requireOwnRelease(em: EntityManager): Promise<void> {
  const applied = await appliedMigrations(em)
  const own = migrations.map(({ name }) => name)
  const missing = own.filter((name) => !applied.includes(name))
  const later = applied.find((name) => !own.includes(name))
  if (missing.length > 0) {
    const what = missing.length === 1 ? 'a migration' : `${missing.length} migrations`
    throw new ConfigurationError([
      `the database lacks ${what} of this release: run \`npm run migrate\`, ` +
        'for an upgrade after every process of the earlier release has stopped (README, "Upgrading")',
    ])
  }
  if (later !== undefined) {
    throw new ConfigurationError([
      `a later release has migrated the database (${later}): start that release, or restore the backup from before ` +
        'the upgrade (README, "Upgrading")',
    ])
  }
}

async function appliedMigrations(em: EntityManager): Promise<string[]> {
  const [table] = await statement<{ found: boolean }>(
    em,
    'find-migrations-table',
    `select to_regclass('schema_migrations') is not null as found`,
  )
  if (table?.found !== true) return []
  const rows = await statement<{ name: string }>(
    em,
    'read-migrations',
    'select name from schema_migrations order by name',
  )
  return rows.map(({ name }) => name)
}
