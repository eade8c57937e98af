import type { Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createPasswordHasher } from '../access/password-hash.ts'
import { gatewayAccountSource } from '../commands/payments/gateway-accounts.ts'
import { gatewayRoutes } from '../commands/payments/gateway-routes.ts'
import type { Config } from '../config/config.ts'
import type { MerchantIdentity } from '../config/merchant-identity.ts'
import { ownPorts } from '../config/own-ports.ts'
import type { TemporalConnection } from '../config/temporal-connection.ts'
import { outsideTransactions } from '../db/outside-transactions.ts'
import type { ApiAccess } from '../db/row-security.ts'
import { createAddressGuard } from '../delivery/address-guard.ts'
import { attemptDelivery } from '../delivery/attempt.ts'
import { signingKeyCache } from '../delivery/key-cache.ts'
import { createSender } from '../delivery/sender.ts'
import { createGateways } from '../gateways/gateways.ts'
import { GATEWAY_CALLS } from '../gateways/port.ts'
import { countFromZero } from '../ops/metrics.ts'
import type { ApplePayConnection } from '../wallets/apple-pay.ts'
import { createWallet } from '../wallets/wallets.ts'
import { createRateLimit } from './http/rate-limit.ts'
import { passwordsInTurn } from './passwords-in-turn.ts'
import { type ApiDependencies, createServer } from './server.ts'
import { together } from './together.ts'
import { createRequestLog } from './tracking/request-log.ts'

/** How long requests in progress may take after a stop, in milliseconds. */
const DRAIN = 25_000
/** Milliseconds between the closings of connections without a request, after a stop. */
const CLOSE_UNUSED = 200
/** How long before its end a certificate is reported, in milliseconds. */
const EXPIRES_SOON = 30 * 86_400_000

type ApiConfig = Pick<
  Config,
  | 'host'
  | 'port'
  | 'opsPort'
  | 'localTemporalUiPort'
  | 'baseUrl'
  | 'rateLimit'
  | 'readRateLimit'
  | 'rateLimitWindowSeconds'
  | 'temporalNamespace'
  | 'stripeHost'
>

export interface RunningApi {
  readonly port: number
  stop(): Promise<void>
}

/** Starts listening. Throws an error with code EADDRINUSE if the port is in use. */
export async function startApi(
  dependencies: ApiDependencies & {
    readonly databaseUrl: string
    readonly access: ApiAccess
    /** Longest wait of a request for the rate limit's connection, in milliseconds. */
    readonly connectTimeout?: number
    /** Null if this API has no Temporal. Only fast-forwarding in the sandbox needs it. */
    readonly temporal: TemporalConnection | null
    readonly merchantIdentity: MerchantIdentity | null
    readonly applePay?: ApplePayConnection | undefined
  },
  config: ApiConfig,
): Promise<RunningApi> {
  const {
    host,
    port,
    rateLimit: limit,
    readRateLimit: readLimit,
    rateLimitWindowSeconds: windowSeconds,
  } = config
  const rateLimit = createRateLimit({
    databaseUrl: dependencies.databaseUrl,
    role: dependencies.access.role,
    limit,
    readLimit,
    windowSeconds,
    connectTimeout: dependencies.connectTimeout,
  })
  const { orm, vault, config: shared } = dependencies
  const gateways = createGateways({
    environment: shared.environment,
    databaseUrl: dependencies.databaseUrl,
    baseUrl: shared.baseUrl,
    accounts: gatewayAccountSource(() => orm.em.fork(), vault),
    routes: gatewayRoutes(() => orm.em.fork(), Date.now),
    stripeHost: config.stripeHost,
  })
  const takesCards = together(async (organizationId) => {
    const takes = await gateways.takesCards(organizationId)
    return () => takes
  })
  const gateway = outsideTransactions({ ...gateways, takesCards }, GATEWAY_CALLS)
  // Loaded on demand, so that an API without Temporal does not load its client.
  const temporal =
    dependencies.temporal === null
      ? null
      : (await import('./temporal.ts')).connectTemporal(dependencies.temporal, config.temporalNamespace)
  const now = () => Date.now()
  const addressGuard = createAddressGuard(
    shared.webhookAllowedCidrs,
    ownPorts(config, dependencies.databaseUrl, dependencies.temporal?.address),
  )
  const sender = createSender(addressGuard)
  const signingKey = signingKeyCache(() => orm.em.fork(), vault, now)
  const wallet = createWallet({
    environment: shared.environment,
    identity: dependencies.merchantIdentity,
    guard: addressGuard,
    now,
    connection: dependencies.applePay,
  })
  const expiredTime = dependencies.merchantIdentity?.expiredTime.getTime() ?? Number.POSITIVE_INFINITY
  if (expiredTime < now() + EXPIRES_SOON) {
    dependencies.log.warn('The certificate in APPLE_PAY_CERT_FILE expires within 30 days or has expired.')
  }
  const attempts = { sender, signingKey, vault, baseUrl: shared.baseUrl, now }
  countFromZero(dependencies.metrics.notifications, 'outcome', ['received', 'repeated', 'refused'])
  const requestLog = createRequestLog({
    em: () => orm.em.fork(),
    log: dependencies.log,
    dropped: dependencies.metrics.untrackedRequests,
  })
  const server = createServer({
    ...dependencies,
    requestLog,
    rateLimit,
    passwords: passwordsInTurn(createPasswordHasher()),
    gateway,
    wallet,
    temporal,
    addressGuard,
    sendWebhook: (delivery) => attemptDelivery(delivery, attempts),
  })
  if (dependencies.access.unprotected !== null) {
    dependencies.log.warn({ reason: dependencies.access.unprotected }, 'row-level security is not in force')
  }
  const connections = openConnections(server)
  await listening(server, host, port)
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      await drain(server, connections)
      await requestLog.close()
      await sender.close()
      await wallet.close()
      await rateLimit.close()
      await gateway.close()
      await temporal?.close()
    },
  }
}

async function listening(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** Waits for requests in progress, and for no connection without one; a response that ends leaves one too. */
async function drain(server: Server, connections: ReadonlySet<Socket>): Promise<void> {
  const closeUnused = (): void => {
    server.closeIdleConnections()
    // To the server, one that has sent nothing is not idle: a request is expected on it.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
  }
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN)
  const closing = setInterval(closeUnused, CLOSE_UNUSED)
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    closeUnused()
  })
  clearInterval(closing)
  clearTimeout(cut)
}

function openConnections(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}
