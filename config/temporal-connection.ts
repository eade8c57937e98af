/** How Temporal is reached: the standard `TEMPORAL_*` environment configuration (address, TLS, API key). */

import type { ConnectionOptions } from '@temporalio/client'
import { loadClientConnectConfig } from '@temporalio/envconfig'

/** Options of both connections of the SDK, the client's and the worker's. */
export type TemporalConnection = Pick<ConnectionOptions, 'tls' | 'metadata'> & {
  readonly address: string
  readonly apiKey?: string
}

/**
 * Milliseconds between attempts to reach an unavailable server. The default grows to two minutes, for which nothing
 * would flow after the server is back.
 */
const RECONNECT_WITHIN = 500

/** Returns the client's connection options. The worker's connection is native and reconnects at each call. */
export function clientConnection(connection: TemporalConnection): ConnectionOptions {
  return {
    ...connection,
    channelArgs: {
      'grpc.initial_reconnect_backoff_ms': RECONNECT_WITHIN,
      'grpc.max_reconnect_backoff_ms': RECONNECT_WITHIN,
    },
  }
}

/** Returns connection options from the environment, with the given `address`. */
export function temporalConnection(address: string): TemporalConnection {
  const { tls, metadata, apiKey } = loadClientConnectConfig().connectionOptions
  return {
    address,
    ...(tls === undefined ? {} : { tls }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(typeof apiKey === 'string' ? { apiKey } : {}),
  }
}
