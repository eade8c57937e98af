import type { ConnectionOptions } from '@temporalio/client'
import { loadClientConnectConfig } from '@temporalio/envconfig'

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

/** Reads the standard `TEMPORAL_*` environment configuration (TLS, API key). */
export function temporalConnection(address: string): TemporalConnection {
  const { tls, metadata, apiKey } = loadClientConnectConfig().connectionOptions
  return {
    address,
    ...(tls === undefined ? {} : { tls }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(typeof apiKey === 'string' ? { apiKey } : {}),
  }
}
