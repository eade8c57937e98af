/** `npm start`: the whole service on this machine. Its start-up ends with the line `ready <BASE_URL>`. */
import { setTimeout as sleep } from 'node:timers/promises'
import { startApi } from '../api/api.ts'
import { bootstrap } from '../commands/access/bootstrap.ts'
import {
  type Config,
  ConfigurationError,
  differentBaseUrl,
  differentEnvironment,
  loadConfig,
} from '../config/config.ts'
import { createLog } from '../config/log.ts'
import { readMerchantIdentity } from '../config/merchant-identity.ts'
import { runProcess } from '../config/process.ts'
import { temporalConnection } from '../config/temporal-connection.ts'
import { keptInstallation, otherEnvironment } from '../db/installation.ts'
import { openApiDatabase, openDatabase } from '../db/open.ts'
import { migrate } from '../db/orm.ts'
import { databaseChecks } from '../db/readiness.ts'
import { rowSecurityCheck } from '../db/row-security.ts'
import { sealPlainHeaders } from '../delivery/seal-headers.ts'
import { ensureSigningKey } from '../delivery/signing-keys.ts'
import { createMetrics } from '../ops/metrics.ts'
import { type Checks, createReadiness } from '../ops/readiness.ts'
import { startOpsServer } from '../ops/server.ts'
import { workflowBundle } from '../worker/bundle.ts'
import { installTemporalRuntime } from '../worker/temporal.ts'
import { startWorker } from '../worker/worker.ts'
import { checkoutUrl, type Demo, demo, demoRequest, demoVariables } from './demo.ts'
import { localMasterKey } from './local-master-key.ts'
import { portIsFree } from './services/ports.ts'
import { startLocalServices } from './services/start-services.ts'

const say = (line: string): void => console.log(line)

const LOOPBACK = ['127.0.0.1', 'localhost', '::1']

await runProcess(async ({ stopping, onDrain, onExit, fail }) => {
  const config = localConfig(loadConfig(process.env))
  const merchantIdentity = readMerchantIdentity(config)
  requireOwnUrl(config)
  await requirePorts(config)
  stopping.addEventListener('abort', () => {
    say('Stopping: requests and deliveries under way finish first. Ctrl-C once more does not wait for them.')
  })
  const bundle = workflowBundle()
  // Awaited only once the local services run, because they must be stopped if it fails before.
  bundle.catch(() => {})
  const services = await startLocalServices({
    dataDir: config.dataDir,
    databaseUrl: config.databaseUrl ?? undefined,
    temporalAddress: config.temporalAddress ?? undefined,
    temporalNamespace: config.temporalNamespace,
    temporalPort: config.localTemporalPort,
    temporalUiPort: config.localTemporalUiPort,
    log: say,
    signal: stopping,
  }).catch((error) => {
    if (stopping.aborted) say('Stopped.')
    throw error
  })
  onExit(async () => {
    await services.stop()
    say('Stopped.')
  })
  stopping.throwIfAborted()

  const { databaseUrl } = services
  await requireOwnDatabase(databaseUrl, config)
  await migrate(databaseUrl)
  const { masterKeys, databasePoolSize: poolSize } = config
  const database = await openDatabase({ databaseUrl, masterKeys, poolSize, name: 'billing worker' })
  onDrain(() => database.orm.close())
  const other = await otherEnvironment(database.orm.em.fork(), config.environment)
  if (other !== null) throw differentEnvironment(config.environment, other)
  const apiDatabase = await openApiDatabase({ databaseUrl, masterKeys, poolSize, name: 'billing api' })
  onDrain(() => apiDatabase.orm.close())
  await ensureSigningKey(database.orm.em.fork(), database.vault)
  await sealPlainHeaders(database.orm.em.fork(), database.vault)
  await bootstrap(database, config, new Date())
  const made =
    config.environment === 'sandbox' && config.bootstrapOrganizationId === null
      ? await demo(database, config)
      : null

  const log = createLog(config.logLevel)
  const metrics = createMetrics()
  installTemporalRuntime(log)
  // The TLS and keys of the environment are of another Temporal server than the one that was just started.
  const temporal =
    config.temporalAddress === null
      ? { address: services.temporalAddress }
      : temporalConnection(config.temporalAddress, process.env)
  const worker = startWorker({
    config,
    ...database,
    databaseUrl,
    temporal,
    workflowBundle: await bundle,
    metrics,
    log,
    // The delay lets the log line out first; the local services end by themselves.
    onStalled: () => void setTimeout(() => process.exit(70), 1_000),
  })
  onDrain(worker.stop)
  const readiness = createReadiness({
    stopping,
    required: { ...databaseChecks(database.orm, Date.now), ...worker.required },
    degrading: { ...worker.checks, ...rowSecurityCheck(apiDatabase.access) },
  })
  const api = await startApi(
    { config, ...apiDatabase, databaseUrl, temporal, readiness, metrics, log, merchantIdentity },
    config,
  )
  onDrain(api.stop)
  const ops = await startOpsServer({
    host: config.opsHost,
    port: config.opsPort,
    metrics,
    readiness,
  })
  onDrain(ops.stop)
  onDrain(async () => {
    if (stopping.reason === 'SIGTERM') await sleep((config.shutdownDelaySeconds ?? 0) * 1_000)
  })
  const waiting = setInterval(sayOnce(worker.checks, services.temporalAddress), 1_000)
  await Promise.race([worker.ready, new Promise((resolve) => stopping.addEventListener('abort', resolve))])
  clearInterval(waiting)
  stopping.throwIfAborted()
  announce(config, services.temporalUiUrl, made)
  void services.ended.then((name) => {
    fail(`${name} ended by itself: stopping. Its log is under ${config.dataDir}.`)
  })
})

function localConfig(config: Config): Config {
  if (config.environment === 'live' && config.masterKeys.length === 0) {
    throw new ConfigurationError(['MASTER_KEY is required in live'])
  }
  return {
    ...config,
    masterKeys: config.masterKeys.length > 0 ? config.masterKeys : [localMasterKey(config.dataDir)],
    webhookAllowedCidrs:
      config.environment === 'sandbox' && config.webhookAllowedCidrs.length === 0
        ? ['127.0.0.0/8', '::1/128']
        : config.webhookAllowedCidrs,
  }
}

/** Before the database is migrated: it may be a deployment's, with another address or environment. */
async function requireOwnDatabase(databaseUrl: string, { baseUrl, environment }: Config): Promise<void> {
  const kept = await keptInstallation(databaseUrl)
  if (kept.environment !== null && kept.environment !== environment)
    throw differentEnvironment(environment, kept.environment)
  // The service of this machine may move to another port, and so keeps no address.
  if (kept.baseUrl !== null && kept.baseUrl !== baseUrl) throw differentBaseUrl(baseUrl, kept.baseUrl)
}

/** Reports a BASE_URL of this machine that leads elsewhere, such as one left in the shell from another start. */
function requireOwnUrl({ host, port, baseUrl }: Config): void {
  const url = new URL(baseUrl)
  if (!LOOPBACK.includes(host) || !LOOPBACK.includes(url.hostname.replace(/[[\]]/g, ''))) return
  const named = Number(url.port || 80)
  if (url.protocol !== 'http:' || named === port) return
  throw new ConfigurationError([
    `BASE_URL is ${baseUrl}, but the API listens on port ${port}; leave BASE_URL out, or set PORT to ${named}`,
  ])
}

/** Reports a port in use, or wanted twice, before anything is downloaded or started. */
async function requirePorts({ port, opsPort }: Config): Promise<void> {
  if (port === opsPort && port !== 0) {
    throw new ConfigurationError([`PORT and OPS_PORT are both ${port}; set one of them to another port`])
  }
  for (const [name, wanted] of [
    ['PORT', port],
    ['OPS_PORT', opsPort],
  ] as const) {
    if (wanted !== 0 && !(await portIsFree(wanted))) {
      throw new ConfigurationError([
        `${name}: port ${wanted} is in use; stop what listens there, or set ${name} to a free one`,
      ])
    }
  }
}

/** Says why the worker is not ready, once for each reason: an own server may be away, or lack the namespace. */
function sayOnce({ temporal }: Checks, address: string): () => Promise<void> {
  let said: string | null = null
  return async () => {
    const reason = (await temporal?.()) ?? null
    if (reason === null || reason === said) return
    said = reason
    say(`Waiting for Temporal at ${address}: ${reason}`)
  }
}

function announce(config: Config, temporalUiUrl: string | null, made: Demo | null): void {
  say('')
  say(`API             ${config.baseUrl}   (${config.baseUrl}/docs, ${config.baseUrl}/openapi.json)`)
  say(`Temporal UI     ${temporalUiUrl ?? 'that of Temporal at TEMPORAL_ADDRESS'}`)
  say(`Metrics         http://${config.opsHost}:${config.opsPort}/metrics`)
  if (made !== null) {
    say(`Organization    ${made.organizationId}`)
    say(`Secret key      ${made.secretKey}`)
    say(`Publishable key ${made.publishableKey}`)
    say(`Checkout demo   ${checkoutUrl(config, made)}`)
    say('')
    say('These as variables of a shell:')
    say(demoVariables(config, made))
    say('')
    say('Place an order:')
    say(demoRequest(config, made))
  }
  say('')
  say(`ready ${config.baseUrl}`)
}
