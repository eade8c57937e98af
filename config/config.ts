/** Read once from the environment, validated as a whole and passed down. No other module reads `process.env`. */
import ipaddr from 'ipaddr.js'
import { ID_PATTERN, ID_RULE } from '../billing/id-format.ts'

export type Environment = 'sandbox' | 'live'

/** A stand-in for Stripe on this machine. */
export interface StripeHost {
  readonly protocol: 'http' | 'https'
  readonly host: string
  readonly port: number
}

export interface Config {
  readonly environment: Environment
  readonly host: string
  readonly port: number
  readonly opsHost: string
  readonly opsPort: number
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly databaseUrl: string | null
  /** Connections of a process for its requests or its work; null if not configured. */
  readonly databasePoolSize: number | null
  readonly dataDir: string
  readonly temporalAddress: string | null
  readonly temporalNamespace: string
  readonly localTemporalPort: number
  readonly localTemporalUiPort: number
  /** Keys of the vault, 32 bytes each in base64: the first encrypts, all decrypt. Empty if not configured. */
  readonly masterKeys: readonly string[]
  readonly trustProxy: boolean
  readonly webhookAllowedCidrs: readonly string[]
  readonly rateLimit: number
  /** Reads of an organization in the window, by one API process. */
  readonly readRateLimit: number
  readonly rateLimitWindowSeconds: number
  readonly logLevel: string
  /** How long the API still serves after SIGTERM; null if not configured. */
  readonly shutdownDelaySeconds: number | null
  readonly bootstrapOrganizationId: string | null
  readonly bootstrapSecretKey: string | null
  readonly applePayMerchantId: string | null
  readonly applePayCertFile: string | null
  readonly applePayKeyFile: string | null
  /** Null: Stripe itself. */
  readonly stripeHost: StripeHost | null
}

interface Setting {
  readonly name: string
  readonly default: string
  readonly meaning: string
}

/** Every variable that the service reads. A test compares them with the README's table. */
export const SETTINGS: readonly Setting[] = [
  {
    name: 'ENVIRONMENT',
    default: 'sandbox',
    meaning: '`sandbox` or `live`; one deployment is one environment',
  },
  { name: 'HOST', default: '127.0.0.1', meaning: 'address the API listens on' },
  { name: 'PORT', default: '3000', meaning: 'port of the API' },
  {
    name: 'OPS_HOST',
    default: '(HOST)',
    meaning:
      'address on which API and worker listen for health checks and Prometheus metrics; whoever reaches it reads them without a key',
  },
  { name: 'OPS_PORT', default: '3001', meaning: 'port of health checks and Prometheus metrics' },
  {
    name: 'BASE_URL',
    default: 'http://HOST:PORT',
    meaning:
      'public address, without trailing slash; `iss` of webhook signatures is this plus `/`; required by `npm run api` and `npm run worker`, the same for both',
  },
  {
    name: 'DATABASE_URL',
    default: '(embedded)',
    meaning: 'PostgreSQL 15 to 18; without it `npm start` runs one of its own',
  },
  {
    name: 'DATABASE_POOL_SIZE',
    default: '(API 20, worker 30)',
    meaning:
      'connections to PostgreSQL for the requests of an API or the work of a worker, at least 5; a process has a few more',
  },
  { name: 'DATA_DIR', default: '.data', meaning: 'directory of the local services and secrets' },
  {
    name: 'TEMPORAL_ADDRESS',
    default: '(embedded)',
    meaning:
      'Temporal frontend, server 1.32 or newer; `TEMPORAL_*` of the Temporal environment configuration are honored too',
  },
  { name: 'TEMPORAL_NAMESPACE', default: 'billing-ENVIRONMENT', meaning: 'namespace of this deployment' },
  {
    name: 'LOCAL_TEMPORAL_PORT',
    default: '7233',
    meaning: 'port of the embedded Temporal server; the next free one when busy',
  },
  {
    name: 'LOCAL_TEMPORAL_UI_PORT',
    default: '8233',
    meaning: 'port of the embedded Temporal web UI; the next free one when busy',
  },
  {
    name: 'MASTER_KEY',
    default: '(generated under `npm start`)',
    meaning:
      '32 bytes in base64 that encrypt secrets at rest; several, comma separated, form a key ring whose first one encrypts',
  },
  {
    name: 'TRUST_PROXY',
    default: 'false',
    meaning: "`true` takes the caller's address from the last entry of `X-Forwarded-For`, the proxy's own",
  },
  {
    name: 'WEBHOOK_ALLOWED_CIDRS',
    default: '(none; loopback under `npm start`)',
    meaning: 'networks, comma separated, that webhooks may reach although they are not public',
  },
  {
    name: 'RATE_LIMIT',
    default: '3000',
    meaning:
      "non-GET requests per organization and window; all its publishable keys and customers' JWTs share a tenth of them",
  },
  {
    name: 'READ_RATE_LIMIT',
    default: '(ten times RATE_LIMIT)',
    meaning: 'GET requests per organization, window and API process, shared in the same way',
  },
  { name: 'RATE_LIMIT_WINDOW_SECONDS', default: '600', meaning: 'length of that window' },
  {
    name: 'SHUTDOWN_DELAY_SECONDS',
    default: '(5; 0 under `npm start`)',
    meaning:
      'after SIGTERM, `readyz` answers 503 at once and the API still serves for as long, so that a balancer can turn away from it',
  },
  {
    name: 'LOG_LEVEL',
    default: 'info',
    meaning: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`',
  },
  {
    name: 'BOOTSTRAP_ORGANIZATION_ID',
    default: '(none)',
    meaning: 'sandbox: organization created at start if missing',
  },
  {
    name: 'BOOTSTRAP_SECRET_KEY',
    default: '(none)',
    meaning: 'sandbox: its secret key, `sk_sandbox_` and at least 26 characters',
  },
  {
    name: 'APPLE_PAY_MERCHANT_ID',
    default: '(none)',
    meaning: 'live: merchant identifier registered with Apple, such as `merchant.com.example`',
  },
  {
    name: 'APPLE_PAY_CERT_FILE',
    default: '(none)',
    meaning: 'live: file with its Apple Pay merchant identity certificate in PEM; the API reads it at start',
  },
  {
    name: 'APPLE_PAY_KEY_FILE',
    default: '(none)',
    meaning: 'live: file with the private key of that certificate in PEM, without a passphrase',
  },
  {
    name: 'STRIPE_API_URL',
    default: '(Stripe)',
    meaning:
      'for tests: a stand-in for Stripe on this machine, such as `http://127.0.0.1:12111`; secret keys go there, so another address is refused',
  },
]

export class ConfigurationError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`Configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.name = 'ConfigurationError'
    this.problems = problems
  }
}

export function differentBaseUrl(own: string, agreed: string): ConfigurationError {
  return new ConfigurationError([
    `BASE_URL is ${own}, and the other processes of this database have ${agreed}: receivers would refuse what is signed. ` +
      'Set the same one; to change it, stop every process and run `npm run base-url:change -- <url>`',
  ])
}

export function differentEnvironment(own: string, agreed: string): ConfigurationError {
  return new ConfigurationError([
    `ENVIRONMENT is ${own}, and this database belongs to a ${agreed} deployment: each needs a database of its own`,
  ])
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** @param required settings that must be given. @throws ConfigurationError with every invalid setting. */
export function loadConfig(
  env: Readonly<Record<string, string | undefined>>,
  required: readonly string[] = [],
): Config {
  const problems: string[] = []
  const text = (name: string): string | null => env[name]?.trim() || null
  const integer = (name: string, fallback: number, min: number, max: number): number => {
    const value = text(name)
    if (value === null) return fallback
    const parsed = Number(value)
    if (Number.isInteger(parsed) && parsed >= min && parsed <= max) return parsed
    problems.push(`${name} must be an integer from ${min} to ${max}`)
    return fallback
  }
  const list = (name: string): string[] =>
    (text(name) ?? '')
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')

  for (const name of required) if (text(name) === null) problems.push(`${name} is required`)

  const environment = text('ENVIRONMENT') ?? 'sandbox'
  if (environment !== 'sandbox' && environment !== 'live')
    problems.push('ENVIRONMENT must be sandbox or live')
  const host = text('HOST') ?? '127.0.0.1'
  const port = integer('PORT', 3000, 0, 65535)
  if (port === 0 && text('BASE_URL') === null)
    problems.push('PORT may be 0, any free one, only with BASE_URL')
  const ownUrl = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  const baseUrl = (text('BASE_URL') ?? ownUrl).replace(/\/+$/, '')
  if (!isBaseUrl(baseUrl)) {
    problems.push('BASE_URL must be an http:// or https:// URL without credentials, query and fragment')
  }
  const databaseUrl = text('DATABASE_URL')
  if (databaseUrl !== null && !isDatabaseUrl(databaseUrl)) {
    problems.push(
      'DATABASE_URL must be a URL such as postgres://user:password@host:5432/billing, with special characters percent-encoded',
    )
  }
  const masterKeys = list('MASTER_KEY')
  for (const key of masterKeys) {
    if (!/^[A-Za-z0-9+/]{43}=$/.test(key)) problems.push('MASTER_KEY must hold keys of 32 bytes in base64')
  }
  const logLevel = text('LOG_LEVEL') ?? 'info'
  if (!LOG_LEVELS.includes(logLevel)) problems.push(`LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}`)
  const trustProxy = text('TRUST_PROXY') ?? 'false'
  if (trustProxy !== 'true' && trustProxy !== 'false') problems.push('TRUST_PROXY must be true or false')

  const webhookAllowedCidrs = list('WEBHOOK_ALLOWED_CIDRS')
  for (const cidr of webhookAllowedCidrs) {
    if (!ipaddr.isValidCIDR(cidr))
      problems.push(`WEBHOOK_ALLOWED_CIDRS: ${cidr} is not a network such as 10.0.0.0/8`)
  }

  const rateLimit = integer('RATE_LIMIT', 3000, 1, 1_000_000_000)
  const bootstrapOrganizationId = text('BOOTSTRAP_ORGANIZATION_ID')
  const bootstrapSecretKey = text('BOOTSTRAP_SECRET_KEY')
  if ((bootstrapOrganizationId === null) !== (bootstrapSecretKey === null)) {
    problems.push('BOOTSTRAP_ORGANIZATION_ID and BOOTSTRAP_SECRET_KEY go together')
  }
  if (bootstrapOrganizationId !== null && !new RegExp(ID_PATTERN).test(bootstrapOrganizationId)) {
    problems.push(`BOOTSTRAP_ORGANIZATION_ID ${ID_RULE}`)
  }
  if (bootstrapSecretKey !== null && !/^sk_sandbox_[A-Za-z0-9_-]{26,100}$/.test(bootstrapSecretKey)) {
    problems.push('BOOTSTRAP_SECRET_KEY must be sk_sandbox_ followed by 26 to 100 letters, digits, _ or -')
  }
  if (environment === 'live' && bootstrapSecretKey !== null) {
    problems.push('BOOTSTRAP_SECRET_KEY is for the sandbox; use `npm run organization:create` in live')
  }

  const applePay = ['APPLE_PAY_MERCHANT_ID', 'APPLE_PAY_CERT_FILE', 'APPLE_PAY_KEY_FILE']
  if (new Set(applePay.map((name) => text(name) === null)).size > 1) {
    problems.push('APPLE_PAY_MERCHANT_ID, APPLE_PAY_CERT_FILE and APPLE_PAY_KEY_FILE go together')
  }

  const stripeApiUrl = text('STRIPE_API_URL')
  const stripeHost = stripeApiUrl === null ? null : standInOf(stripeApiUrl)
  if (stripeApiUrl !== null && stripeHost === null) {
    problems.push(
      'STRIPE_API_URL must be http:// or https:// with a loopback address and a port, and nothing else',
    )
  }

  const config: Config = {
    environment: environment === 'live' ? 'live' : 'sandbox',
    host,
    port,
    opsHost: text('OPS_HOST') ?? host,
    opsPort: integer('OPS_PORT', 3001, 0, 65535),
    baseUrl,
    databaseUrl,
    databasePoolSize:
      text('DATABASE_POOL_SIZE') === null ? null : integer('DATABASE_POOL_SIZE', 20, 5, 1_000),
    dataDir: text('DATA_DIR') ?? '.data',
    temporalAddress: text('TEMPORAL_ADDRESS'),
    temporalNamespace: text('TEMPORAL_NAMESPACE') ?? `billing-${environment}`,
    localTemporalPort: integer('LOCAL_TEMPORAL_PORT', 7233, 1, 65535),
    localTemporalUiPort: integer('LOCAL_TEMPORAL_UI_PORT', 8233, 1, 65535),
    masterKeys,
    trustProxy: trustProxy === 'true',
    webhookAllowedCidrs,
    rateLimit,
    readRateLimit: integer('READ_RATE_LIMIT', 10 * rateLimit, 1, 10_000_000_000),
    rateLimitWindowSeconds: integer('RATE_LIMIT_WINDOW_SECONDS', 600, 1, 86_400),
    logLevel,
    shutdownDelaySeconds:
      text('SHUTDOWN_DELAY_SECONDS') === null ? null : integer('SHUTDOWN_DELAY_SECONDS', 5, 0, 300),
    bootstrapOrganizationId,
    bootstrapSecretKey,
    applePayMerchantId: text('APPLE_PAY_MERCHANT_ID'),
    applePayCertFile: text('APPLE_PAY_CERT_FILE'),
    applePayKeyFile: text('APPLE_PAY_KEY_FILE'),
    stripeHost,
  }
  if (problems.length > 0) throw new ConfigurationError(problems)
  return config
}

/** False for `localhost:3000` too, which parses as a URL with the scheme `localhost`. */
function isBaseUrl(text: string): boolean {
  return /^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/i.test(text) && URL.canParse(text)
}

/**
 * `localhost:5432/billing` parses as a URL too, of which the driver takes another database. After a user, the driver takes
 * a URL without a host, whose parameter `host` then names a socket.
 */
function isDatabaseUrl(text: string): boolean {
  return /^(?:postgres(?:ql)?:\/\/|socket:\/)/i.test(text) && URL.canParse(text.replace('@/', '@localhost/'))
}

/** Null unless the URL is of a loopback address, without a path: a name could lead elsewhere. */
function standInOf(text: string): StripeHost | null {
  const [, protocol, host, port] = /^(https?):\/\/(127\.0\.0\.1|\[::1\]):(\d{1,5})\/?$/.exec(text) ?? []
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) return null
  return {
    protocol: protocol === 'https' ? 'https' : 'http',
    host: host.replace(/[[\]]/g, ''),
    port: Number(port),
  }
}
