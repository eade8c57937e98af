import { setTimeout as sleep } from 'node:timers/promises'
import { Migrator } from '@mikro-orm/migrations'
import { createPostgreSqlTypeParsers, MikroORM, type Options } from '@mikro-orm/postgresql'
import pg from 'pg'
import { lockArguments } from './advisory-locks.ts'
import { connectionOptions, MAINTENANCE_TIMEOUTS, MIGRATION_TIMEOUTS, type Timeouts } from './connection.ts'
import { PooledDialect } from './driver.ts'
import * as entities from './entities/index.ts'
import { advancePositions, positionsLieAhead } from './event-positions.ts'
import { migrations } from './migrations/index.ts'
import { organizationInScope } from './organization-scope.ts'
import { requireNoTransaction } from './outside-transactions.ts'
import { protectRows } from './row-security.ts'
import { storedInstant } from './stored-instant.ts'

export interface DatabaseOptions {
  readonly databaseUrl: string
  /** Default, also of null: 20. */
  readonly poolSize?: number | null
  /** Milliseconds until a new connection fails; a caller then gets 503. */
  readonly connectTimeout?: number
  readonly name?: string
  readonly timeouts?: Timeouts
  /** As in `connectionOptions`. */
  readonly role?: string | null
  /** Whether every transaction is held to the organization in scope; default false. */
  readonly isScoped?: boolean
}

const POOL_SIZE = 20
/** Milliseconds. A new connection costs its first user several round trips and the planning of statements. */
const IDLE_TIMEOUT = 600_000

/** The first query connects. */
export async function openOrm(options: DatabaseOptions): Promise<MikroORM> {
  return await MikroORM.init(ormOptions(options))
}

function ormOptions({
  databaseUrl,
  poolSize,
  connectTimeout = 3_000,
  name = 'billing',
  timeouts,
  role = null,
  isScoped = false,
}: DatabaseOptions): Options {
  const pool = new pg.Pool({
    ...connectionOptions({ databaseUrl, name, role, ...(timeouts === undefined ? {} : { timeouts }) }),
    max: poolSize ?? POOL_SIZE,
    idleTimeoutMillis: IDLE_TIMEOUT,
    connectionTimeoutMillis: connectTimeout,
    types: typeParsers(),
  })
  return {
    clientUrl: databaseUrl,
    driverOptions: new PooledDialect(pool, isScoped ? organizationOfConnection : () => undefined),
    entities: Object.values(entities),
    extensions: [Migrator],
    migrations: {
      migrationsList: migrations,
      tableName: 'schema_migrations',
      snapshot: false,
      // Each in a transaction of its own, so that one without a transaction finds the tables of those before it.
      allOrNothing: false,
      path: 'db/migrations',
    },
    schemaGenerator: {
      ignoreSchema: ['test_gateway', 'lists'],
      // `db/row-security.ts` and the migrations have them.
      ignorePolicies: true,
      ignoreRoutines: true,
      createForeignKeyConstraints: false,
    },
    // Instants are bound and read as UTC, whatever the time zone of machine or server.
    timezone: 'Z',
    forceUtcTimezone: true,
    logger: () => {},
  }
}

/**
 * Requests that hold a connection and wait for a second one would wait for each other, and everybody for them.
 * @throws Error in a transaction.
 */
function organizationOfConnection(): string | undefined {
  requireNoTransaction('a second connection was wanted within a transaction')
  return organizationInScope()
}

/** Instants become ISO 8601 texts, which every reader takes alike. */
function typeParsers(): pg.TypeOverrides {
  const types = new pg.TypeOverrides()
  const parseTexts = pg.types.getTypeParser(TEXT_ARRAY) as (text: string) => string[]
  for (const [oid, parse] of Object.entries(createPostgreSqlTypeParsers(parseTexts))) {
    types.setTypeParser(Number(oid), parse)
  }
  types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => new Date(storedInstant(text)).toISOString())
  return types
}

/** PostgreSQL's type number of `text[]`; the driver has a parser for it but no name. */
const TEXT_ARRAY = 1009 as typeof pg.types.builtins.TEXT

/** Milliseconds. */
const LOCK_POLL_INTERVAL = 100

/** Several processes may call it at once. Returns what keeps row-level security from being set up, or null. */
export async function migrate(databaseUrl: string): Promise<string | null> {
  // Two connections: one holds the lock, the other migrates.
  const orm = await openOrm({
    databaseUrl,
    poolSize: 2,
    name: 'billing migrations',
    timeouts: MIGRATION_TIMEOUTS,
  })
  try {
    const connection = orm.em.getConnection()
    return await connection.transactional(async (trx) => {
      await connection.execute('set local idle_in_transaction_session_timeout = 0', [], 'run', trx)
      const take = `select pg_try_advisory_xact_lock(${lockArguments('migration')}) as taken`
      let attempts = 0
      // A statement that waited for the lock would hold a snapshot, for whose end an index made concurrently waits.
      while (!(await connection.execute<{ taken: boolean }>(take, [], 'get', trx)).taken) {
        attempts += 1
        if (attempts * LOCK_POLL_INTERVAL > MAINTENANCE_TIMEOUTS.lock) {
          throw new Error('another process is still migrating the database')
        }
        await sleep(LOCK_POLL_INTERVAL)
      }
      await orm.migrator.up()
      if (await positionsLieAhead(orm.em.fork())) await advancePositions(orm.em.fork())
      return await protectRows(orm.em.fork())
    })
  } finally {
    await orm.close()
  }
}
