import type { ClientConfig } from 'pg'

/** Milliseconds after which PostgreSQL aborts. */
export interface Timeouts {
  /** Waiting for a lock of another transaction. */
  readonly lock: number
  /** 0: never, whatever the server's default. */
  readonly statement: number
  /** An idle transaction: its connection is closed, and its locks are released. */
  readonly idleInTransaction: number
}

export const TIMEOUTS: Timeouts = { lock: 5_000, statement: 15_000, idleInTransaction: 30_000 }

/** For work on whole tables: retention and re-encryption of secrets. */
export const MAINTENANCE_TIMEOUTS: Timeouts = {
  lock: 600_000,
  statement: 600_000,
  idleInTransaction: 600_000,
}

/** A statement takes a time in proportion to its rows, and one that was aborted begins again from the start. */
export const MIGRATION_TIMEOUTS: Timeouts = {
  // While a change of a table waits for its lock, other statements on the table queue behind it.
  lock: 30_000,
  statement: 0,
  idleInTransaction: 600_000,
}

/** Milliseconds beyond PostgreSQL's own timeout after which a connection without a response counts as lost. */
const RESPONSE_MARGIN = 5_000

/** Milliseconds. With Node's probes, a silently lost peer is detected within about 20 seconds. */
const KEEPALIVE_DELAY = 10_000
const SERVER_PARAMETERS = {
  // The notation that `storedInstant` reads, whatever the server's default.
  DateStyle: 'ISO',
  tcp_keepalives_idle: '10s',
  tcp_keepalives_interval: '2s',
  tcp_keepalives_count: '5',
  tcp_user_timeout: '20s',
}

export interface ConnectionOptions {
  readonly databaseUrl: string
  readonly name: string
  readonly timeouts?: Timeouts
  /** A role to take, of which the connection's user is a member; default: the user itself. */
  readonly role?: string | null | undefined
  readonly parameters?: Readonly<Record<string, string>>
}

/** All limits are part of the start-up message and cost no round trip. */
export function connectionOptions({
  databaseUrl,
  name,
  timeouts = TIMEOUTS,
  role = null,
  parameters = {},
}: ConnectionOptions): ClientConfig {
  return {
    connectionString: databaseUrl,
    application_name: name,
    lock_timeout: timeouts.lock,
    statement_timeout: timeouts.statement,
    idle_in_transaction_session_timeout: timeouts.idleInTransaction,
    query_timeout: timeouts.statement === 0 ? 0 : timeouts.statement + RESPONSE_MARGIN,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY,
    options: Object.entries({
      ...SERVER_PARAMETERS,
      // The driver does not send a 0, and the server's default would hold.
      ...(timeouts.statement === 0 ? { statement_timeout: 0 } : {}),
      ...(role === null ? {} : { role }),
      ...parameters,
    })
      .map(([parameter, value]) => `-c ${parameter}=${value}`)
      .join(' '),
  }
}
