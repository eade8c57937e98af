/** Opens the database through MikroORM, and brings its schema up to date. */
import { Migrator } from '@mikro-orm/migrations'
import { createPostgreSqlTypeParsers, MikroORM, type Options } from '@mikro-orm/postgresql'
import pg from 'pg'
import { lockArguments } from './advisory-locks.ts'
import { connectionOptions, MAINTENANCE_TIMEOUTS, type Timeouts } from './connection.ts'
import { PooledDialect } from './driver.ts'
import * as entities from './entities/index.ts'
import { migrations } from './migrations/index.ts'

export interface DatabaseOptions {
  readonly databaseUrl: string
  /** Connections at most. */
  readonly poolSize?: number
  /** Milliseconds a connection may take to be made; a caller waits no longer for an answer of 503. */
  readonly connectTimeout?: number
  /** Shown by PostgreSQL as `application_name`. */
  readonly name?: string
  readonly timeouts?: Timeouts
}

/**
 * How long a connection is kept that nobody uses, in milliseconds. A new one costs the call that needs it several round trips
 * and the planning of what the others have kept.
 */
const IDLE_TIMEOUT = 600_000

/** Opens the ORM without touching the database; the first query connects. */
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
    // Instants are bound and read as UTC whatever the machine's or the server's zone.
    timezone: 'Z',
    forceUtcTimezone: true,
    logger: () => {},
  }
}

/** The driver's types as the ORM reads them: instants stay text. */
function typeParsers(): pg.TypeOverrides {
  const types = new pg.TypeOverrides()
  const parseTexts = pg.types.getTypeParser(TEXT_ARRAY) as (text: string) => string[]
  for (const [oid, parse] of Object.entries(createPostgreSqlTypeParsers(parseTexts))) {
    types.setTypeParser(Number(oid), parse)
  }
  return types
}

/** PostgreSQL's number of `text[]`, which the driver has a parser for but no name. */
const TEXT_ARRAY = 1009 as typeof pg.types.builtins.TEXT

/** Applies the migrations that a database lacks; serialised by a lock, so that several processes may start at once. */
export async function migrate(databaseUrl: string): Promise<void> {
  // Two connections: the migrator looks around outside the transaction that holds the lock.
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
      // Everyone else's statements line up behind a change of a table that waits for its lock.
      await connection.execute("set local lock_timeout = '30s'", [], 'run', trx)
      await orm.migrator.up({ transaction: trx })
    })
  } finally {
    await orm.close()
  }
}
