/** The roles that operators may give the service, on a server of its own: none of them is a superuser. */
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import { openApiDatabase, openDatabase } from '../../db/open.ts'
import { inOrganization } from '../../db/organization-scope.ts'
import { migrate } from '../../db/orm.ts'
import { API_ROLE } from '../../db/row-security.ts'
import { freePort } from '../../dev/services/ports.ts'
import { type Postgres, startPostgres } from '../../dev/services/postgres.ts'
import { apiClient } from '../support/api-client.ts'
import { makeCatalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { makePayer } from '../support/payments.ts'
import { serviceProcess } from '../support/processes.ts'
import { startService } from '../support/service.ts'
import { testServices } from '../support/services.ts'
import { waitFor } from '../support/wait-for.ts'

jest.setTimeout(300_000)

const MASTER_KEY = randomBytes(32).toString('base64')
const ROLES_SQL = readFileSync(new URL('../../deploy/postgres/roles.sql', import.meta.url), 'utf8')
const LOGINS = ['billing_owner', 'api', 'worker', 'temporal']

let dataDir: string
let server: Postgres

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'billing-roles-'))
  chmodSync(dataDir, 0o755) // as root, PostgreSQL runs as another user, who has to get in
  server = await startPostgres({ dataDir, durable: false })
})
afterAll(async () => {
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

async function asSuperuser(sql: string, database = 'postgres', options = ''): Promise<void> {
  const url = new URL(server.url)
  url.pathname = `/${database}`
  const client = new pg.Client({ connectionString: url.href, options })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

function urlOf(login: string, database: string): string {
  const url = new URL(server.url)
  url.username = login
  url.password = login
  url.pathname = `/${database}`
  return url.href
}

async function apiOf(databaseUrl: string) {
  const { orm, access } = await openApiDatabase({ databaseUrl, masterKeys: [MASTER_KEY] })
  try {
    const [row] = await inOrganization('org_none', () =>
      orm.em.fork().execute<{ count: string }[]>('select count(*) from organizations'),
    )
    return { access, seesOthers: Number(row?.count) > 0 }
  } finally {
    await orm.close()
  }
}

const ORGANIZATION = `insert into organizations (id, name, settings, created_time, updated_time)
  values ('org_there', 'There', '{}', now(), now())`

// In this order: a role that one of them creates belongs to the whole server.
describe('a user who owns the database', () => {
  test('and may not create roles serves without row-level security, and says so', async () => {
    await asSuperuser(`create role plain login password 'plain'`)
    await asSuperuser('create database plain owner plain')
    const databaseUrl = urlOf('plain', 'plain')
    expect(await migrate(databaseUrl)).toMatch(/billing_api.* do not exist/)
    await asSuperuser(ORGANIZATION, 'plain')
    expect(await apiOf(databaseUrl)).toEqual({
      access: { role: null, unprotected: expect.stringContaining('plain sees every organization') },
      seesOthers: true,
    })

    const service = await startService({ databaseUrl, worker: false, settings: { MASTER_KEY } })
    const { api, organizationId } = await service.organization()
    const { id } = await create(api, 'websites', { name: 'Shop' })
    expect((await api.get(`websites/${id}`)).status).toBe(200)
    expect((await api.get('websites?q=shop')).body).toMatchObject([{ id }])
    const other = await service.organization()
    expect((await other.api.get('websites')).body).toEqual([])
    expect((await api.get('/readyz')).body).toEqual({ status: 'degraded', failing: ['row-level-security'] })
    expect(service.log.join('')).toContain('row-level security is not in force')
    expect(organizationId).not.toBe(other.organizationId)
    await service.stop()
  })

  test('and may create roles creates them, and the API takes its own', async () => {
    await asSuperuser(`create role maker login createrole password 'maker'`)
    await asSuperuser('create database maker owner maker')
    const databaseUrl = urlOf('maker', 'maker')
    expect(await migrate(databaseUrl)).toBeNull()
    await asSuperuser(ORGANIZATION, 'maker')
    expect(await apiOf(databaseUrl)).toEqual({
      access: { role: API_ROLE, unprotected: null },
      seesOthers: false,
    })
    expect(await migrate(databaseUrl)).toBeNull()
  })

  test('and is no member of the role of the API serves without row-level security, and says so', async () => {
    const databaseUrl = urlOf('plain', 'plain')
    expect(await migrate(databaseUrl)).toContain('plain is no member of billing_api')
    expect(await apiOf(databaseUrl)).toMatchObject({
      access: { role: null, unprotected: expect.stringMatching(/permission denied.* plain sees every/) },
      seesOthers: true,
    })
    await asSuperuser('grant billing_api to plain')
    expect(await apiOf(databaseUrl)).toEqual({
      access: { role: API_ROLE, unprotected: null },
      seesOthers: false,
    })
    expect(await migrate(databaseUrl)).toBeNull()
  })

  test('and may create roles says that those of another database of the server are not its own', async () => {
    await asSuperuser(`create role second login createrole password 'second'`)
    await asSuperuser('create database second owner second')
    const databaseUrl = urlOf('second', 'second')
    expect(await migrate(databaseUrl)).toContain('second is no member of billing_api')
    await asSuperuser('grant billing_api to second')
    expect(await migrate(databaseUrl)).toBeNull()
    expect((await apiOf(databaseUrl)).access).toEqual({ role: API_ROLE, unprotected: null })
  })
})

describe('the roles of the compose file', () => {
  const passwords = LOGINS.map((login) => `-c passwords.${login}=${login}`).join(' ')

  beforeAll(async () => {
    await asSuperuser('create database billing')
    await asSuperuser(ROLES_SQL, 'billing', passwords)
    expect(await migrate(urlOf('billing_owner', 'billing'))).toBeNull()
  })

  test('are no superusers, bypass no policy, and can be set up again', async () => {
    await asSuperuser(ROLES_SQL, 'billing', passwords)
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    const { rows } = await client.query(
      `select rolname, rolsuper or rolbypassrls or rolcreaterole as mighty from pg_roles
        where rolname = any($1) or rolname like 'billing%' order by 1`,
      [LOGINS],
    )
    await client.end()
    expect(rows).toEqual(
      [...LOGINS, 'billing_api', 'billing_test_gateway', 'billing_worker']
        .toSorted()
        .map((rolname) => ({ rolname, mighty: false })),
    )
    const temporal = new pg.Client({ connectionString: urlOf('temporal', 'billing') })
    await expect(temporal.connect()).rejects.toThrow('permission denied')
  })

  test('keep a process for all organizations from running as the API', async () => {
    const databaseUrl = urlOf('api', 'billing')
    await expect(openDatabase({ databaseUrl, masterKeys: [MASTER_KEY] })).rejects.toThrow(
      'member of billing_worker',
    )
    const { orm } = await openDatabase({
      databaseUrl: urlOf('worker', 'billing'),
      masterKeys: [MASTER_KEY],
    })
    await orm.close()
  })

  test('suffice for API and worker: an order is started, charged and paid', async () => {
    const port = await freePort()
    const env = {
      MASTER_KEY,
      BASE_URL: `http://127.0.0.1:${port}`,
      PORT: String(port),
      OPS_PORT: '0',
      TEMPORAL_ADDRESS: testServices().temporalAddress,
      TEMPORAL_NAMESPACE: testServices().namespace,
      BOOTSTRAP_ORGANIZATION_ID: 'org_first',
      BOOTSTRAP_SECRET_KEY: `sk_sandbox_${randomBytes(24).toString('base64url')}`,
      LOG_LEVEL: 'warn',
    }
    const log = join(dataDir, 'processes.log')
    const api = serviceProcess('api/main.ts', { ...env, DATABASE_URL: urlOf('api', 'billing') }, log)
    const worker = serviceProcess('worker/main.ts', { ...env, DATABASE_URL: urlOf('worker', 'billing') }, log)
    try {
      await api.start()
      await worker.start()
      const client = apiClient(env.BASE_URL, 'org_first', { 'SVC-APIKEY': env.BOOTSTRAP_SECRET_KEY })
      const merchant = await makeCatalogue({
        organizationId: 'org_first',
        secretKey: env.BOOTSTRAP_SECRET_KEY,
        publishableKey: '',
        api: client,
      })
      const { customerId } = await makePayer(client)
      const { id } = await create(client, 'subscriptions', orderBody(merchant, { customerId }))
      await waitFor('the order to be paid', async () => {
        const { body } = await client.get(`subscriptions/${id}`)
        return body.status === 'active' && body.billingStatus === 'paid' ? true : null
      })
      expect((await client.get('/readyz')).body).toEqual({ status: 'ready', failing: [] })
      expect(readFileSync(log, 'utf8')).not.toMatch(/"level":50|permission denied|row-level/)
    } finally {
      await worker.stop()
      await api.stop()
    }
  })
})
