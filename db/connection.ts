/** How every connection to the database is made, so that nothing on it waits for ever. */
import type { ClientConfig } from 'pg'

/** When PostgreSQL ends what takes longer, in milliseconds. */
export interface Timeouts {
  /** Waiting for a lock that another transaction holds. */
  readonly lock: number
  readonly statement: number
  /** A transaction that is sent nothing: its connection is closed, and its locks are free again. */
  readonly idleInTransaction: number
}

/** Of the connections that serve requests, workflows and deliveries. */
export const TIMEOUTS: Timeouts = { lock: 5_000, statement: 15_000, idleInTransaction: 30_000 }

/** Of work that reads or writes whole tables: migrations, retention, and sealing secrets anew. */
export const MAINTENANCE_TIMEOUTS: Timeouts = {
  lock: 600_000,
  statement: 600_000,
  idleInTransaction: 600_000,
}

/** How much longer than PostgreSQL's own timeout a response may take before the connection counts as lost. */
const RESPONSE_MARGIN = 5_000

/**
 * A peer that has gone without a word is noticed within about 20 seconds: by probes where the connection is idle
 * (Node adds one a second once they have begun), by missing acknowledgements where something was sent.
 */
const KEEPALIVE_DELAY = 10_000
const SERVER_PARAMETERS = {
  tcp_keepalives_idle: '10s',
  tcp_keepalives_interval: '2s',
  tcp_keepalives_count: '5',
  tcp_user_timeout: '20s',
}

export interface ConnectionOptions {
  readonly databaseUrl: string
  /** Shown by PostgreSQL as `application_name`. */
  readonly name: string
  readonly timeouts?: Timeouts
  /** Parameters of the session besides. */
  readonly parameters?: Readonly<Record<string, string>>
}

/** Options of the driver. All limits are sent with the start-up message: they cost no round trip. */
export function connectionOptions({
  databaseUrl,
  name,
  timeouts = TIMEOUTS,
  parameters = {},
}: ConnectionOptions): ClientConfig {
  return {
    connectionString: databaseUrl,
    application_name: name,
    lock_timeout: timeouts.lock,
    statement_timeout: timeouts.statement,
    idle_in_transaction_session_timeout: timeouts.idleInTransaction,
    query_timeout: timeouts.statement + RESPONSE_MARGIN,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY,
    options: Object.entries({ ...SERVER_PARAMETERS, ...parameters })
      .map(([parameter, value]) => `-c ${parameter}=${value}`)
      .join(' '),
  }
}
