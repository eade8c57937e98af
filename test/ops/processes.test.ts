import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import { ulid } from 'ulid'
import { FAILURE_REASONS } from '../../delivery/sender.ts'
import { freePort } from '../../dev/services/ports.ts'
import { ensureNamespace } from '../../dev/services/temporal-namespace.ts'
import { WORKFLOW_NAMES } from '../../workflows/contract.ts'
import { forward } from '../support/forward.ts'
import { type ServiceProcess, serviceProcess } from '../support/processes.ts'
import { startService, type TestService } from '../support/service.ts'
import { testServices } from '../support/services.ts'
import { waitFor } from '../support/wait-for.ts'

/** Each test starts several processes, one after the other. */
jest.setTimeout(300_000)

const MASTER_KEY = randomBytes(32).toString('base64')

let service: TestService
let env: Record<string, string>
const started: ServiceProcess[] = []

beforeAll(async () => {
  service = await startService({ worker: false, settings: { MASTER_KEY } })
  env = {
    DATABASE_URL: service.databaseUrl,
    MASTER_KEY,
    BASE_URL: 'https://billing.example',
    TEMPORAL_ADDRESS: testServices().temporalAddress,
    TEMPORAL_NAMESPACE: testServices().namespace,
    PORT: String(await freePort()),
    OPS_PORT: String(await freePort()),
    LOG_LEVEL: 'silent',
  }
})
afterAll(async () => {
  for (const one of started) await one.kill()
  await service.stop()
})

async function start(main: string, besides: Record<string, string> = {}): Promise<ServiceProcess> {
  const one = serviceProcess(main, { ...env, ...besides }, '/dev/null')
  started.push(one)
  await one.start()
  return one
}

/** Returns what it printed, or the message it failed with. */
async function run(script: string, args: string[], besides: Record<string, string | undefined> = {}) {
  const path = fileURLToPath(new URL(`../../${script}`, import.meta.url))
  const ending = promisify(execFile)(process.execPath, [path, ...args], {
    env: { PATH: process.env.PATH, ...env, ...besides },
    timeout: 120_000,
  })
  return await ending.then(
    ({ stdout }) => ({ failed: false, text: stdout }),
    ({ stderr }: { stderr: string }) => ({ failed: true, text: stderr }),
  )
}

async function readyz(): Promise<{ code: number; status: string; checks: Record<string, string> }> {
  const response = await fetch(`http://127.0.0.1:${env.OPS_PORT}/readyz`)
  return {
    code: response.status,
    ...((await response.json()) as { status: string; checks: Record<string, string> }),
  }
}

describe('BASE_URL', () => {
  test.each(['api/main.ts', 'worker/main.ts'])('is required by %s', async (main) => {
    const { failed, text } = await run(main, [], { BASE_URL: undefined })
    expect(failed).toBe(true)
    expect(text).toContain('BASE_URL is required')
  })

  test('is the same for API and worker, until it is changed for both', async () => {
    const api = await start('api/main.ts')
    await api.stop()
    const refused = await run('worker/main.ts', [], { BASE_URL: 'https://other.example' })
    expect(refused.failed).toBe(true)
    expect(refused.text).toContain('https://billing.example')
    expect(refused.text).toContain('https://other.example')
    const local = await run('dev/start.ts', [], { BASE_URL: 'https://other.example' })
    expect(local.failed).toBe(true)
    expect(local.text).toContain('BASE_URL is https://other.example, and the other processes')

    expect((await run('cli/change-base-url.ts', ['https://other.example/'])).failed).toBe(false)
    const worker = await start('worker/main.ts', { BASE_URL: 'https://other.example' })
    await worker.stop()
    await run('cli/change-base-url.ts', [env.BASE_URL ?? ''])
  })

  test.each([
    ['cli/change-base-url.ts', 'npm run base-url:change -- <url>'],
    ['cli/create-organization.ts', 'npm run organization:create -- <name>'],
  ])('is not changed, nor an organization made, by a variable that is empty: %s', async (script, usage) => {
    const kept = () =>
      service.database.orm.em
        .fork()
        .getConnection()
        .execute(
          `select (select count(*) from organizations) as organizations, (select value from installation where name = 'base-url') as address`,
        )
    const before = await kept()
    for (const args of [[], [''], ['  ']]) {
      const { failed, text } = await run(script, args, { BASE_URL: undefined })
      expect({ args, failed, text: text.trim() }).toEqual({ args, failed: true, text: `usage: ${usage}` })
    }
    expect(await kept()).toEqual(before)
  })
})

describe('npm run keys:rotate', () => {
  test("has customers' tokens signed with a new key also while the next key for webhooks does not sign yet", async () => {
    const keys = () =>
      service.database.orm.em.fork().getConnection().execute('select kid from customer_token_keys')
    expect((await run('cli/rotate-keys.ts', [])).failed).toBe(false)
    const before = (await keys()).length
    const again = await run('cli/rotate-keys.ts', [])
    expect(again.failed).toBe(true)
    expect(again.text).toContain('rotate again after that')
    expect(await keys()).toHaveLength(before + 1)
  })
})

describe('ENVIRONMENT', () => {
  test('is that of the database for good: no process of the other one starts, and no command makes keys', async () => {
    const api = await start('api/main.ts')
    await api.stop()
    for (const main of ['api/main.ts', 'worker/main.ts', 'dev/start.ts', 'cli/create-organization.ts']) {
      const { failed, text } = await run(main, ['Shop'], { ENVIRONMENT: 'live' })
      expect({ main, failed }).toEqual({ main, failed: true })
      expect(text).toContain('ENVIRONMENT is live, and this database belongs to a sandbox deployment')
    }
    const again = await start('api/main.ts')
    await again.stop()
  })
})

describe('npm start', () => {
  test.each([
    ['environment', 'live', 'this database belongs to a live deployment'],
    ['base-url', 'https://elsewhere.example', 'https://elsewhere.example'],
  ])("leaves a database with another deployment's %s as it is", async (fact, value, message) => {
    const name = `test_${ulid().toLowerCase()}`
    const admin = new pg.Client({ connectionString: testServices().adminUrl })
    await admin.connect()
    await admin.query(`create database ${name}`)
    const databaseUrl = new URL(`/${name}`, testServices().adminUrl).href
    const other = new pg.Client({ connectionString: databaseUrl })
    try {
      await other.connect()
      await other.query('create table installation (name text primary key, value text not null)')
      await other.query('insert into installation (name, value) values ($1, $2)', [fact, value])
      const { failed, text } = await run('dev/start.ts', [], { DATABASE_URL: databaseUrl })
      expect(failed).toBe(true)
      expect(text).toContain(message)
      const { rows } = await other.query(`select tablename from pg_tables where schemaname = 'public'`)
      expect(rows).toEqual([{ tablename: 'installation' }])
    } finally {
      await other.end()
      await admin.query(`drop database ${name} with (force)`)
      await admin.end()
    }
  })
})

describe('a process or command does not start', () => {
  const sql = (text: string) => service.database.orm.em.fork().getConnection().execute(text)
  const everyMain = [
    'api/main.ts',
    'worker/main.ts',
    'cli/rearm.ts',
    'cli/quarantine.ts',
    'cli/change-base-url.ts',
  ]
  const argumentsOf = (main: string) => (main === 'cli/change-base-url.ts' ? ['https://billing.example'] : [])

  test.each(everyMain)('on a database that lacks migrations of its release: %s', async (main) => {
    await sql(
      'create table kept as select * from schema_migrations order by name desc limit 2; delete from schema_migrations where name in (select name from kept)',
    )
    try {
      const { failed, text } = await run(main, argumentsOf(main))
      expect({ main, failed }).toEqual({ main, failed: true })
      expect(text).toContain('lacks 2 migrations of this release')
      expect(text).toContain('npm run migrate')
      expect(text).not.toContain('cannot be reached')
    } finally {
      await sql('insert into schema_migrations select * from kept; drop table kept')
    }
  })

  test.each(everyMain)('on a database that a later release has migrated: %s', async (main) => {
    await sql("insert into schema_migrations (name) values ('Migration20991231000000_of_test')")
    try {
      const { failed, text } = await run(main, argumentsOf(main))
      expect({ main, failed }).toEqual({ main, failed: true })
      expect(text).toContain('Migration20991231000000_of_test')
    } finally {
      await sql("delete from schema_migrations where name = 'Migration20991231000000_of_test'")
    }
  })

  test.each(everyMain)('on an empty database: %s', async (main) => {
    const name = `test_${ulid().toLowerCase()}`
    const admin = new pg.Client({ connectionString: testServices().adminUrl })
    await admin.connect()
    await admin.query(`create database ${name}`)
    try {
      const databaseUrl = new URL(`/${name}`, testServices().adminUrl).href
      const { failed, text } = await run(main, argumentsOf(main), { DATABASE_URL: databaseUrl })
      expect({ main, failed }).toEqual({ main, failed: true })
      expect(text).toContain('npm run migrate')
    } finally {
      await admin.query(`drop database ${name} with (force)`)
      await admin.end()
    }
  })
})

describe('an API that is told to stop', () => {
  /** Milliseconds, of those that the API waits for requests in progress, on a busy machine. */
  const PROMPT = 15_000
  const socket = async () => {
    const one = connect(Number(env.PORT), '127.0.0.1')
    one.setEncoding('utf8')
    await once(one, 'connect')
    return one
  }

  test('finishes a request in progress, closes its connection and ends', async () => {
    const { organizationId, secretKey } = await service.organization()
    const api = await start('api/main.ts')
    const holder = new pg.Client({ connectionString: service.databaseUrl })
    await holder.connect()
    const client = await socket()
    try {
      await holder.query('begin; lock table products in access exclusive mode')
      const path = `/organizations/${organizationId}/products`
      client.write(`GET ${path} HTTP/1.1\r\nHost: billing.example\r\nSVC-APIKEY: ${secretKey}\r\n\r\n`)
      await waitFor('the request to wait', async () => {
        const { rows } = await holder.query(
          `select from pg_locks where relation = 'products'::regclass and not granted`,
        )
        return rows[0] ?? null
      })
      const asked = Date.now()
      const stopped = api.stop()
      await waitFor('no new connection to be taken', () =>
        fetch(`http://127.0.0.1:${env.PORT}/healthz`).then(
          () => null,
          () => true,
        ),
      )
      await holder.query('rollback')
      let text = ''
      for await (const chunk of client) text += chunk
      expect(text).toMatch(/^HTTP\/1\.1 200 /)
      expect(text).toMatch(/^Connection: close\r$/im)
      expect(await stopped).toBe(0)
      expect(Date.now() - asked).toBeLessThan(PROMPT)
    } finally {
      client.destroy()
      await holder.end()
    }
  })

  test('waits for no connection that has sent nothing', async () => {
    const api = await start('api/main.ts')
    const client = await socket()
    try {
      const asked = Date.now()
      expect(await api.stop()).toBe(0)
      expect(Date.now() - asked).toBeLessThan(PROMPT)
    } finally {
      client.destroy()
    }
  })
})

describe('a database', () => {
  test.each([
    ['another MASTER_KEY', 'MASTER_KEY', () => ({ MASTER_KEY: randomBytes(32).toString('base64') })],
    [
      'a user that it does not have',
      'nobody',
      () => {
        const url = new URL(service.databaseUrl)
        url.username = 'nobody'
        return { DATABASE_URL: url.href }
      },
    ],
  ])('is not asked again and again with %s', async (_, message, settings) => {
    for (const main of ['api/main.ts', 'worker/main.ts']) {
      const { failed, text } = await run(main, [], settings())
      expect({ main, failed }).toEqual({ main, failed: true })
      expect(text).not.toContain('cannot be reached')
      expect(text).toContain(message)
    }
  })

  test('that cannot be reached yet is waited for', async () => {
    const url = new URL(service.databaseUrl)
    const to = `${url.hostname}:${url.port}`
    const port = await freePort()
    url.host = `127.0.0.1:${port}`
    const refusing = createServer((socket) => {
      socket.destroy()
      refusing.close()
    }).listen(port, '127.0.0.1')
    const refused = once(refusing, 'close')
    const started = start('api/main.ts', { DATABASE_URL: url.href })
    await refused
    const between = await forward(port, to)
    await (await started).stop()
    await between.close()
  })
})

test('DATABASE_POOL_SIZE is how many connections an API has for its requests, whatever comes', async () => {
  const api = await start('api/main.ts', { DATABASE_POOL_SIZE: '6' })
  const other = new pg.Client({ connectionString: service.databaseUrl })
  await other.connect()
  try {
    await other.query('begin; lock table api_keys in access exclusive mode')
    // Of different keys: requests with the same one share a look-up.
    const requests = Array.from({ length: 20 }, async (_, index) => {
      const letter = String.fromCharCode('a'.charCodeAt(0) + index)
      const headers = { 'SVC-APIKEY': `sk_sandbox_${letter.repeat(26)}` }
      const response = await fetch(`http://127.0.0.1:${env.PORT}/organizations/org_a/websites`, { headers })
      return await response.text()
    })
    const connections = await waitFor(
      'the connections to be taken',
      async () => {
        // A transaction sees its first look at the connections unless it clears that.
        const { rows } = await other.query<{ wait_event_type: string | null; state: string }>(
          `select wait_event_type, state from pg_stat_activity, pg_stat_clear_snapshot()
          where datname = current_database() and application_name = 'billing api'`,
        )
        return rows.filter(({ wait_event_type: event }) => event === 'Lock').length >= 6 ? rows : null
      },
      8_000,
    )
    expect(connections).toHaveLength(6)
    await other.query('rollback')
    await Promise.all(requests)
  } finally {
    await other.end()
    await api.stop()
  }
})

describe("the operators' port", () => {
  /** Of no machine: kept for documentation. */
  const NOWHERE = '203.0.113.1'

  test('of a worker has an address of its own, and the worker no other port', async () => {
    const worker = await start('worker/main.ts', { HOST: NOWHERE, OPS_HOST: '127.0.0.1' })
    expect(await readyz()).toMatchObject({ code: 200 })
    await worker.stop()
  })

  test('of an API has an address of its own', async () => {
    const { failed, text } = await run('api/main.ts', [], { OPS_HOST: NOWHERE })
    expect(failed).toBe(true)
    expect(text).toContain(NOWHERE)
    const api = await start('api/main.ts', { HOST: '0.0.0.0', OPS_HOST: '127.0.0.1' })
    expect(await readyz()).toMatchObject({ code: 200 })
    await api.stop()
  })
})

describe('the series of a counter are there before anything was counted, so that the first is an increase:', () => {
  /** Of the counters with a label. */
  const zeros = async (): Promise<string[]> => {
    const text = await (await fetch(`http://127.0.0.1:${env.OPS_PORT}/metrics`)).text()
    return [...text.matchAll(/^(billing_\w+_total)\{\w+="([a-z-]+)"\} 0$/gm)]
      .map(([, name, value]) => `${name} ${value}`)
      .toSorted()
  }

  test('those of a worker', async () => {
    const worker = await start('worker/main.ts')
    expect(await zeros()).toEqual(
      [
        ...WORKFLOW_NAMES.flatMap((name) => [
          `billing_late_total ${name}`,
          `billing_quarantines_total ${name}`,
        ]),
        ...['delivered', ...FAILURE_REASONS].map((reason) => `billing_webhook_attempts_total ${reason}`),
        ...['applied', 'ignored', 'superseded', 'deferred', 'failed'].map(
          (outcome) => `billing_gateway_notifications_total ${outcome}`,
        ),
      ].toSorted(),
    )
    await worker.stop()
  })

  test('those of an API', async () => {
    const api = await start('api/main.ts')
    expect(await zeros()).toEqual([
      'billing_gateway_notifications_total received',
      'billing_gateway_notifications_total refused',
      'billing_gateway_notifications_total repeated',
    ])
    await api.stop()
  })
})

describe('readyz', () => {
  test('of a worker without Temporal is degraded, and says so; with Temporal it is ready', async () => {
    const worker = await start('worker/main.ts', { TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` })
    expect(await readyz()).toMatchObject({
      code: 200,
      status: 'degraded',
      checks: { database: 'ok', temporal: expect.stringContaining('cannot be reached') },
    })
    await worker.stop()
    const other = await start('worker/main.ts')
    expect(await readyz()).toMatchObject({ code: 200, status: 'ready', checks: { temporal: 'ok' } })
    await other.stop()
  })

  test('of a worker whose namespace does not exist is degraded, until somebody creates it', async () => {
    const namespace = `missing-${ulid().toLowerCase()}`
    const worker = await start('worker/main.ts', { TEMPORAL_NAMESPACE: namespace })
    const temporalIs = (wanted: RegExp) =>
      waitFor(`temporal to be ${wanted}`, async () => {
        const report = await readyz()
        return wanted.test(report.checks.temporal ?? '') ? report : null
      })
    expect(await temporalIs(/^not polling: /)).toMatchObject({
      code: 200,
      status: 'degraded',
      checks: { temporal: expect.stringContaining(`namespace ${namespace} does not exist`) },
    })
    await ensureNamespace({ address: env.TEMPORAL_ADDRESS ?? '', namespace, isHopeless: () => false })
    expect(await temporalIs(/^ok$/)).toMatchObject({ code: 200, status: 'ready' })
    await worker.stop()
  })

  test('of an API that was told to stop is 503 at once, while it still serves', async () => {
    const api = await start('api/main.ts', { SHUTDOWN_DELAY_SECONDS: '3' })
    expect(await readyz()).toMatchObject({ code: 200, status: 'ready' })
    const stopped = api.stop()
    const report = await waitFor('readyz to be 503', async () => {
      const found = await readyz()
      return found.code === 503 ? found : null
    })
    expect(report.checks).toMatchObject({ database: 'ok', stopping: 'the process is stopping' })
    const served = await fetch(`http://127.0.0.1:${env.PORT}/status`)
    expect(served.status).toBe(200)
    expect(await stopped).toBe(0)
  })
})
