import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { ConfigurationError, loadConfig, SETTINGS } from '../../config/config.ts'
import { ROOT } from './import-graph.ts'

const KEY = Buffer.alloc(32).toString('base64')

describe('the settings', () => {
  test("stand in the README's table with default and meaning, and nothing else does", () => {
    const file = join(ROOT, 'README.md')
    const readme = existsSync(file) ? readFileSync(file, 'utf8') : ''
    const wanted = SETTINGS.map((setting) => row(`\`${setting.name}\``, setting.default, setting.meaning))
    // As one text, so that a failure shows the table to be pasted.
    expect(rows(readme).join('\n')).toBe(wanted.join('\n'))
  })

  test('are those that the configuration reads', () => {
    const read = new Set<string>()
    loadConfig(
      new Proxy({} as Record<string, string | undefined>, {
        get: (_, name) => {
          read.add(String(name))
          return undefined
        },
      }),
    )
    expect([...read].toSorted()).toEqual(SETTINGS.map(({ name }) => name).toSorted())
  })

  test('have the defaults that the table says', () => {
    const config = loadConfig({})
    expect(config).toEqual({
      environment: 'sandbox',
      host: '127.0.0.1',
      port: 3000,
      opsHost: '127.0.0.1',
      opsPort: 3001,
      baseUrl: 'http://127.0.0.1:3000',
      databaseUrl: null,
      databasePoolSize: null,
      dataDir: '.data',
      temporalAddress: null,
      temporalNamespace: 'billing-sandbox',
      localTemporalPort: 7233,
      localTemporalUiPort: 8233,
      masterKeys: [],
      trustProxy: false,
      webhookAllowedCidrs: [],
      rateLimit: 3000,
      readRateLimit: 30_000,
      rateLimitWindowSeconds: 600,
      logLevel: 'info',
      shutdownDelaySeconds: null,
      bootstrapOrganizationId: null,
      bootstrapSecretKey: null,
      applePayMerchantId: null,
      applePayCertFile: null,
      applePayKeyFile: null,
      stripeHost: null,
    })
    const values = Object.entries(config)
    for (const { name, default: said } of SETTINGS) {
      // A default in brackets is what `npm start` supplies, or none.
      if (said.startsWith('(')) continue
      const member = name.toLowerCase().replaceAll('_', '')
      const value = values.find(([key]) => key.toLowerCase() === member)?.[1]
      const spelled = said.replace('HOST:PORT', '127.0.0.1:3000').replace('ENVIRONMENT', 'sandbox')
      expect([name, String(value)]).toEqual([name, spelled])
    }
  })

  test('are read from the environment, without the blanks around them', () => {
    expect(
      loadConfig({
        ENVIRONMENT: 'live',
        HOST: '0.0.0.0',
        PORT: ' 8080 ',
        BASE_URL: 'https://billing.example/',
        MASTER_KEY: `${KEY}, ${KEY}`,
        TRUST_PROXY: 'true',
        WEBHOOK_ALLOWED_CIDRS: '10.0.0.0/8, fd00::/8',
        LOG_LEVEL: '',
      }),
    ).toMatchObject({
      environment: 'live',
      host: '0.0.0.0',
      port: 8080,
      baseUrl: 'https://billing.example',
      temporalNamespace: 'billing-live',
      masterKeys: [KEY, KEY],
      trustProxy: true,
      webhookAllowedCidrs: ['10.0.0.0/8', 'fd00::/8'],
      logLevel: 'info',
    })
  })

  test.each([
    [{}, '127.0.0.1'],
    [{ HOST: '0.0.0.0' }, '0.0.0.0'],
    [{ HOST: '0.0.0.0', OPS_HOST: '127.0.0.1' }, '127.0.0.1'],
  ])("have the operators' port at the API's address, or at one of its own: %j", (env, opsHost) => {
    expect(loadConfig(env).opsHost).toBe(opsHost)
  })

  test('that do not hold are all named at once', () => {
    const wrong = {
      ENVIRONMENT: 'production',
      PORT: '99999',
      OPS_PORT: 'http',
      DATABASE_URL: 'localhost:5432/billing',
      DATABASE_POOL_SIZE: '4',
      BASE_URL: 'billing.example',
      LOCAL_TEMPORAL_PORT: '0',
      LOCAL_TEMPORAL_UI_PORT: '-1',
      MASTER_KEY: 'c2hvcnQ=',
      TRUST_PROXY: 'yes',
      RATE_LIMIT: '0',
      RATE_LIMIT_WINDOW_SECONDS: '1.5',
      LOG_LEVEL: 'loud',
      BOOTSTRAP_ORGANIZATION_ID: 'two words',
    }
    const error = refusal(wrong)
    const missed = Object.keys(wrong).filter(
      (name) => !error.problems.some((problem) => problem.startsWith(`${name} `)),
    )
    expect(missed).toEqual([])
    expect(error.message.split('\n')).toHaveLength(error.problems.length + 1)
  })

  test.each([
    'localhost:3000',
    'ftp://billing.example',
    'http:billing.example',
    'https://user:secret@billing.example',
    'https://billing.example?from=mail',
    'https://billing.example/#api',
    'https://billing.example:99999',
  ])('have a public address that clients can reach: not %s', (BASE_URL) => {
    expect(refusal({ BASE_URL }).problems).toEqual([
      'BASE_URL must be an http:// or https:// URL without credentials, query and fragment',
    ])
  })

  test.each([
    [{ BASE_URL: 'https://billing.example/v1/' }, 'https://billing.example/v1'],
    [{ BASE_URL: 'http://localhost:8080' }, 'http://localhost:8080'],
    [{ HOST: '::1' }, 'http://[::1]:3000'],
  ])('make the public address of %j', (env, baseUrl) => {
    expect(loadConfig(env).baseUrl).toBe(baseUrl)
  })

  test.each([
    'localhost:5432/billing',
    'https://db.example/billing',
    'postgres:/billing',
    '/var/run/postgresql billing',
    'postgres://db.example:99999/billing',
    'postgres://user:hash#in-password@db.example/billing',
  ])('name a database by a URL that the driver takes: not %s', (DATABASE_URL) => {
    expect(refusal({ DATABASE_URL }).problems).toEqual([
      'DATABASE_URL must be a URL such as postgres://user:password@host:5432/billing, with special characters percent-encoded',
    ])
  })

  test.each([
    'postgres://db.example/billing',
    'postgresql://user:p%23w@db.example:5432/billing?sslmode=verify-full',
    'postgres://%2Fvar%2Frun%2Fpostgresql/billing',
    'postgres:///billing?host=/var/run/postgresql',
    'socket:/var/run/postgresql?db=billing',
    'postgres://user:password@/billing?host=/var/run/postgresql',
  ])('name a database, also by the socket of its server: %s', (DATABASE_URL) => {
    expect(loadConfig({ DATABASE_URL }).databaseUrl).toBe(DATABASE_URL)
  })

  test('have any free port only with a public address', () => {
    expect(refusal({ PORT: '0' }).problems).toEqual(['PORT may be 0, any free one, only with BASE_URL'])
    expect(loadConfig({ PORT: '0', BASE_URL: 'https://billing.example' }).port).toBe(0)
  })

  test('that are secrets are not repeated when they do not hold', () => {
    const secrets = {
      DATABASE_URL: 'db:secret',
      MASTER_KEY: 'not-a-key',
      BOOTSTRAP_SECRET_KEY: 'sk_sandbox_short',
    }
    for (const value of Object.values(secrets)) expect(refusal(secrets).message).not.toContain(value)
  })

  test('for the bootstrap organization go together, and belong to the sandbox', () => {
    const key = `sk_sandbox_${'a'.repeat(26)}`
    expect(refusal({ BOOTSTRAP_SECRET_KEY: key }).message).toContain('go together')
    const both = { BOOTSTRAP_ORGANIZATION_ID: 'acme', BOOTSTRAP_SECRET_KEY: key }
    expect(loadConfig(both)).toMatchObject({ bootstrapOrganizationId: 'acme', bootstrapSecretKey: key })
    expect(refusal({ ...both, ENVIRONMENT: 'live' }).message).toContain('is for the sandbox')
  })

  test.each(['sandbox', 'live'])('send secret keys to no other machine than Stripe: %s', (ENVIRONMENT) => {
    const hostOf = (STRIPE_API_URL: string) => loadConfig({ ENVIRONMENT, STRIPE_API_URL }).stripeHost
    expect(hostOf('http://127.0.0.1:12111')).toEqual({ protocol: 'http', host: '127.0.0.1', port: 12_111 })
    expect(hostOf('https://[::1]:443/')).toEqual({ protocol: 'https', host: '::1', port: 443 })
    for (const STRIPE_API_URL of [
      'https://stripe.example.com:443',
      'http://localhost:12111',
      'http://127.0.0.1',
      'http://127.0.0.1:70000',
      'http://127.0.0.1:80@stripe.example.com:80',
      'http://user@127.0.0.1:80',
      'http://127.0.0.1:80/v1',
      'http://127.0.0.1.example.com:80',
      'http://10.0.0.1:80',
      'ftp://127.0.0.1:80',
    ]) {
      expect(refusal({ ENVIRONMENT, STRIPE_API_URL }).message).toContain('STRIPE_API_URL must be')
    }
  })
})

function refusal(env: Readonly<Record<string, string>>): ConfigurationError {
  try {
    loadConfig(env)
  } catch (error) {
    if (error instanceof ConfigurationError) return error
    throw error
  }
  throw new Error('the configuration was taken')
}

function rows(readme: string): string[] {
  const table = /<!-- settings -->(.*?)<!-- \/settings -->/s.exec(readme)?.[1] ?? ''
  return table
    .split('\n')
    .filter((line) => line.trim().startsWith('| `'))
    .map((line) => row(...line.trim().replace(/^\|/, '').replace(/\|$/, '').split('|')))
}

function row(...cells: string[]): string {
  return `| ${cells.map((cell) => cell.trim()).join(' | ')} |`
}
