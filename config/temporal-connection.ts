import type { ConnectionOptions } from '@temporalio/client'
import { loadClientConfigProfile, toClientOptions } from '@temporalio/envconfig'

export type TemporalConnection = Pick<ConnectionOptions, 'tls' | 'metadata'> & {
  readonly address: string
  readonly apiKey?: string
}

/** Milliseconds between attempts to reconnect. The default grows to two minutes, in which nothing would flow. */
const RECONNECT_WITHIN = 500

/** Of the client only: the worker's connection is native and reconnects at each call. */
export function clientConnection(connection: TemporalConnection): ConnectionOptions {
  return {
    ...connection,
    channelArgs: {
      'grpc.initial_reconnect_backoff_ms': RECONNECT_WITHIN,
      'grpc.max_reconnect_backoff_ms': RECONNECT_WITHIN,
    },
  }
}

/**
 * Reads the standard `TEMPORAL_*` environment configuration (TLS, API key), and the file of profiles that Temporal's
 * tools share. An empty variable counts as absent, as those of `config.ts` do.
 */
export function temporalConnection(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
): TemporalConnection {
  const { tls, metadata, apiKey } = toClientOptions(profileOf(given(env))).connectionOptions
  return {
    address,
    ...(tls === undefined ? {} : { tls }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(typeof apiKey === 'string' ? { apiKey } : {}),
  }
}

function given(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const present = (name: string, value: string): boolean =>
    // An empty one of these takes away what the file has.
    value.trim() !== '' || !name.startsWith('TEMPORAL_') || name.startsWith('TEMPORAL_GRPC_META_')
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && present(name, value) ? [[name, value]] : [],
    ),
  )
}

function profileOf(env: Record<string, string>): ReturnType<typeof loadClientConfigProfile> {
  try {
    return loadClientConfigProfile({ overrideEnvVars: env })
  } catch (error) {
    const isNamed = env.TEMPORAL_CONFIG_FILE !== undefined || env.TEMPORAL_PROFILE !== undefined
    const isUnreadable = Error.isError(error) && 'syscall' in error
    if (isNamed || !isUnreadable) throw error
    // A home directory that cannot be read, as that of many system users, has no file for this service.
    return loadClientConfigProfile({ overrideEnvVars: env, disableFile: true })
  }
}
