/** How Temporal is reached: the standard `TEMPORAL_*` environment configuration (address, TLS, API key). */

import type { ConnectionOptions } from '@temporalio/client'
import { loadClientConnectConfig } from '@temporalio/envconfig'

/** What both of the SDK's connections, the client's and the worker's, are opened with. */
export type TemporalConnection = Pick<ConnectionOptions, 'tls' | 'metadata'> & {
  readonly address: string
  readonly apiKey?: string
}

/**
 * Between tries to reach a server that is away, in milliseconds. The default grows to two minutes, for as long as which
 * nothing would flow once the server is back.
 */
const RECONNECT_WITHIN = 500

/** The same for the client's connection; the worker's, which is not of gRPC for JavaScript, tries again at each call. */
export function clientConnection(connection: TemporalConnection): ConnectionOptions {
  return {
    ...connection,
    channelArgs: {
      'grpc.initial_reconnect_backoff_ms': RECONNECT_WITHIN,
      'grpc.max_reconnect_backoff_ms': RECONNECT_WITHIN,
    },
  }
}

/** Connection options from the environment, with `address` where the process knows better. */
export function temporalConnection(address: string): TemporalConnection {
  const { tls, metadata, apiKey } = loadClientConnectConfig().connectionOptions
  return {
    address,
    ...(tls === undefined ? {} : { tls }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(typeof apiKey === 'string' ? { apiKey } : {}),
  }
}
