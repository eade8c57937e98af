/** How the engine is reached: the standard `TEMPORAL_*` environment configuration (address, TLS, API key). */

import type { ConnectionOptions } from '@temporalio/client'
import { loadClientConnectConfig } from '@temporalio/envconfig'

/** What both of the SDK's connections, the client's and the worker's, are opened with. */
export type TemporalConnection = Pick<ConnectionOptions, 'tls' | 'metadata'> & {
  readonly address: string
  readonly apiKey?: string
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
