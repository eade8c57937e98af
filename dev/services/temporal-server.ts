import { TEMPORAL_DATABASES } from './temporal-schema.ts'

/** The same at every start: a restarted server would otherwise wait for its former self. */
export const INNER_PORTS = [
  'FRONTEND_MEMBERSHIP_PORT',
  'FRONTEND_HTTP_PORT',
  'HISTORY_GRPC_PORT',
  'HISTORY_MEMBERSHIP_PORT',
  'MATCHING_GRPC_PORT',
  'MATCHING_MEMBERSHIP_PORT',
  'WORKER_GRPC_PORT',
  'WORKER_MEMBERSHIP_PORT',
] as const

export type InnerPorts = Record<(typeof INNER_PORTS)[number], number>

export type ServerOptions = {
  program: string
  postgresUrl: string
  port: number
  innerPorts: InnerPorts
  dynamicConfigFile: string
}

/** The server inherits no environment, which has the client's TEMPORAL_* variables. */
export function temporalServerCommand(options: ServerOptions) {
  const { hostname, port, username, password } = new URL(options.postgresUrl)
  const innerPorts = Object.entries(options.innerPorts).map(([name, value]) => [name, String(value)])
  const env = {
    PATH: process.env.PATH,
    LOG_LEVEL: 'warn',
    BIND_ON_IP: '127.0.0.1',
    FRONTEND_GRPC_PORT: String(options.port),
    ...Object.fromEntries(innerPorts),
    NUM_HISTORY_SHARDS: '4',
    DYNAMIC_CONFIG_FILE_PATH: options.dynamicConfigFile,
    DB: 'postgres12_pgx',
    DBNAME: TEMPORAL_DATABASES.main,
    VISIBILITY_DBNAME: TEMPORAL_DATABASES.visibility,
    POSTGRES_SEEDS: hostname,
    DB_PORT: port || '5432',
    POSTGRES_USER: decodeURIComponent(username),
    POSTGRES_PWD: decodeURIComponent(password),
    // For each of four services; each connection costs PostgreSQL some megabytes.
    SQL_MAX_CONNS: '10',
    SQL_MAX_IDLE_CONNS: '10',
    SQL_VIS_MAX_CONNS: '3',
    SQL_VIS_MAX_IDLE_CONNS: '3',
    // Near this limit the server collects garbage sooner than at twice its live memory.
    GOMEMLIMIT: '320MiB',
  }
  return { file: options.program, args: ['--allow-no-auth', 'start'], env }
}
