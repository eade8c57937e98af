/** Opens the database through MikroORM, and applies migrations. */
import { Migrator } from '@mikro-orm/migrations'
import { createPostgreSqlTypeParsers, MikroORM, type Options } from '@mikro-orm/postgresql'
import pg from 'pg'
import { lockArguments } from './advisory-locks.ts'
import { connectionOptions, MAINTENANCE_TIMEOUTS, type Timeouts } from './connection.ts'
import { PooledDialect } from './driver.ts'
import * as entities from './entities/index.ts'
import { migrations } from './migrations/index.ts'
import { storedInstantText } from './stored-instant.ts'

export interface DatabaseOptions {
  readonly databaseUrl: string
  readonly poolSize?: number
  /** Milliseconds until a new connection fails; a caller then gets 503. */
  readonly connectTimeout?: number
  readonly name?: string
  readonly timeouts?: Timeouts
}

/**
 * Milliseconds until an idle connection is closed. A new connection costs its first user several round trips
 * and the planning of statements that others have prepared.
 */
const IDLE_TIMEOUT = 600_000

/** Opens the ORM without connecting; the first query connects. */
export async function openOrm(options: DatabaseOptions): Promise<MikroORM> {
  return await MikroORM.init(ormOptions(options))
}

function ormOptions({
  databaseUrl,
  poolSize = 20,
  connectTimeout = 3_000,
  name = 'billing',
  timeouts,
}: DatabaseOptions): Options {
  const pool = new pg.Pool({
    ...connectionOptions({ databaseUrl, name, ...(timeouts === undefined ? {} : { timeouts }) }),
    max: poolSize,
    idleTimeoutMillis: IDLE_TIMEOUT,
    connectionTimeoutMillis: connectTimeout,
    types: typeParsers(),
  })
  return {
    clientUrl: databaseUrl,
    driverOptions: new PooledDialect(pool),
    entities: Object.values(entities),
    extensions: [Migrator],
    migrations: {
      migrationsList: migrations,
      tableName: 'schema_migrations',
      snapshot: false,
      path: 'db/migrations',
    },
    schemaGenerator: { ignoreSchema: ['test_gateway'], createForeignKeyConstraints: false },
    // Instants are bound and read as UTC, whatever the time zone of machine or server.
    timezone: 'Z',
    forceUtcTimezone: true,
    logger: () => {},
  }
}

/** Returns the driver's type parsers for the ORM. Instants become ISO 8601 texts, which every reader takes alike. */
function typeParsers(): pg.TypeOverrides {
  const types = new pg.TypeOverrides()
  const parseTexts = pg.types.getTypeParser(TEXT_ARRAY) as (text: string) => string[]
  for (const [oid, parse] of Object.entries(createPostgreSqlTypeParsers(parseTexts))) {
    types.setTypeParser(Number(oid), parse)
  }
  types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, storedInstantText)
  return types
}

/** PostgreSQL's type number of `text[]`; the driver has a parser for it but no name. */
const TEXT_ARRAY = 1009 as typeof pg.types.builtins.TEXT

/** Applies pending migrations under a lock, so that several processes may start at once. */
export async function migrate(databaseUrl: string): Promise<void> {
  // Two connections: the migrator also reads outside of the transaction that holds the lock.
  const orm = await openOrm({
    databaseUrl,
    poolSize: 2,
    name: 'billing migrations',
    timeouts: MAINTENANCE_TIMEOUTS,
  })
  try {
    const connection = orm.em.getConnection()
    await connection.transactional(async (trx) => {
      await connection.execute(`select pg_advisory_xact_lock(${lockArguments('migration')})`, [], 'run', trx)
      // While a change of a table waits for its lock, other statements on the table queue behind it.
      await connection.execute("set local lock_timeout = '30s'", [], 'run', trx)
      await orm.migrator.up({ transaction: trx })
    })
  } finally {
    await orm.close()
  }
}
