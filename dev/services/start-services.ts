import { join } from 'node:path'
import { type Postgres, startPostgres } from './postgres.ts'
import { startTemporal, stopStaleTemporal, type Temporal } from './temporal.ts'
import type { DynamicConfig } from './temporal-settings.ts'
import { withClient } from './with-client.ts'

export type LocalServicesConfig = {
  /** They store their data in its folders postgres and temporal. One launcher at a time. */
  dataDir: string
  databaseUrl?: string | undefined
  temporalAddress?: string | undefined
  temporalNamespace: string
  temporalPort: number
  temporalUiPort: number | null
  temporalSettings?: DynamicConfig | undefined
  log: (line: string) => void
  durable?: boolean
  signal?: AbortSignal | undefined
}

export type LocalServices = {
  databaseUrl: string
  temporalAddress: string
  temporalUiUrl: string | null
  /** Resolves with the name of a service that ended by itself; never after stop(). */
  ended: Promise<string>
  stop(): Promise<void>
}

const APPLICATION_DATABASE = 'billing'

/** Starts what is not external. Rejects, with nothing left running, on failure or abort. */
export async function startLocalServices(config: LocalServicesConfig): Promise<LocalServices> {
  const { log, signal } = config
  const started: { postgres: Postgres | null; temporal: Temporal | null } = { postgres: null, temporal: null }
  const embeddedPostgres = async () => {
    const { durable = true } = config
    started.postgres ??= await startPostgres({
      dataDir: join(config.dataDir, 'postgres'),
      durable,
      log,
      signal,
    })
    return started.postgres.url
  }
  const stop = async () => {
    try {
      await started.temporal?.stop()
    } finally {
      await started.postgres?.stop()
    }
  }
  try {
    const temporalDir = join(config.dataDir, 'temporal')
    // Before PostgreSQL, to which a leftover server would hold connections.
    if (!config.temporalAddress) await stopStaleTemporal(temporalDir)
    // First, since it makes PostgreSQL only once it has found a Temporal CLI or Go, which a machine may lack.
    if (!config.temporalAddress) {
      started.temporal = await startTemporal({
        dataDir: temporalDir,
        // Its databases never go to an external server, where two installations would share them.
        postgresUrl: embeddedPostgres,
        namespace: config.temporalNamespace,
        port: config.temporalPort,
        uiPort: config.temporalUiPort,
        dynamicConfig: config.temporalSettings,
        log,
        signal,
      })
    }
    const databaseUrl = config.databaseUrl ?? (await applicationDatabase(await embeddedPostgres()))
    signal?.throwIfAborted()
    return handle(config, databaseUrl, started, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

function handle(
  config: LocalServicesConfig,
  databaseUrl: string,
  started: { postgres: Postgres | null; temporal: Temporal | null },
  stop: () => Promise<void>,
): LocalServices {
  let stopping: Promise<void> | undefined
  const ended = new Promise<string>((resolve) => {
    const report = (name: string) => () => {
      if (!stopping) resolve(name)
    }
    started.postgres?.exited.then(report('PostgreSQL'))
    started.temporal?.exited.then(report('Temporal'))
  })
  return {
    databaseUrl,
    temporalAddress: started.temporal?.address ?? config.temporalAddress ?? '',
    temporalUiUrl: started.temporal?.uiUrl ?? null,
    ended,
    stop: () => {
      stopping ??= stop()
      return stopping
    },
  }
}

async function applicationDatabase(clusterUrl: string): Promise<string> {
  await withClient(clusterUrl, async (client) => {
    const found = await client.query('select from pg_database where datname = $1', [APPLICATION_DATABASE])
    if (!found.rowCount) await client.query(`create database ${APPLICATION_DATABASE}`)
  })
  const url = new URL(clusterUrl)
  url.pathname = `/${APPLICATION_DATABASE}`
  return url.href
}
