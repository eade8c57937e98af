/** Opens the database through MikroORM, and brings its schema up to date. */
import { Migrator } from '@mikro-orm/migrations'
import { MikroORM, type Options } from '@mikro-orm/postgresql'
import type { Pool } from 'pg'
import { lockArguments } from './advisory-locks.ts'
import { dropDeadConnections } from './dead-connections.ts'
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
}

/**
 * How long a connection is kept that nobody uses, in milliseconds. A new one costs the call that needs it several round trips
 * and the planning of what the others have kept.
 */
const IDLE_TIMEOUT = 600_000

/** Options of the ORM; exported for the migration commands. */
export function ormOptions(options: DatabaseOptions): Options {
  const { databaseUrl, poolSize = 20, connectTimeout = 3_000, name = 'billing' } = options
  return {
    clientUrl: databaseUrl,
    entities: Object.values(entities),
    extensions: [Migrator],
    migrations: {
      migrationsList: migrations,
      tableName: 'schema_migrations',
      snapshot: false,
      path: 'db/migrations',
    },
    schemaGenerator: { ignoreSchema: ['test_gateway'], createForeignKeyConstraints: false },
    pool: { min: 0, max: poolSize, idleTimeoutMillis: IDLE_TIMEOUT },
    driverOptions: {
      application_name: name,
      connectionTimeoutMillis: connectTimeout,
      keepAlive: true,
      onPoolCreated: (pool: Pool) => dropDeadConnections(pool),
    },
    // Instants are bound and read as UTC whatever the machine's or the server's zone.
    timezone: 'Z',
    forceUtcTimezone: true,
    logger: () => {},
  }
}

/** Opens the ORM without touching the database; the first query connects. */
export async function openOrm(options: DatabaseOptions): Promise<MikroORM> {
  return await MikroORM.init(ormOptions(options))
}

/** Applies the migrations that a database lacks; serialised by a lock, so that several processes may start at once. */
export async function migrate(databaseUrl: string): Promise<void> {
  // Two connections: the migrator looks around outside the transaction that holds the lock.
  const orm = await openOrm({ databaseUrl, poolSize: 2, name: 'billing migrations' })
  try {
    const connection = orm.em.getConnection()
    await connection.transactional(async (trx) => {
      await connection.execute(`select pg_advisory_xact_lock(${lockArguments('migration')})`, [], 'run', trx)
      await orm.migrator.up({ transaction: trx })
    })
  } finally {
    await orm.close()
  }
}
