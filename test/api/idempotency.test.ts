import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { freePort } from '../../dev/services/ports.ts'
import { removeExpired } from '../../worker/retention.ts'
import { apiClient } from '../support/api-client.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { disputeBody, externalSale } from '../support/dispute.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { serviceProcess } from '../support/processes.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

describe('an Idempotency-Key', () => {
  let service: TestService
  let merchant: Catalogue
  const masterKey = randomBytes(32).toString('base64')

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { MASTER_KEY: masterKey } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const sql = <T = Record<string, unknown>>(text: string, values: unknown[] = []) =>
    service.database.orm.em.fork().getConnection().execute<T[]>(text, values)
  const count = async (name: string) => (await sql('select 1 from websites where name = ?', [name])).length
  const post = (body: object, key: string, api = merchant.api) =>
    api.post('websites', body, { 'Idempotency-Key': key })

  test('makes once and answers the same each time: status, headers, body', async () => {
    const first = await post({ name: 'Once', url: null }, 'once')
    const again = await post({ url: null, name: 'Once' }, 'once')
    expect([again.status, again.body]).toEqual([201, first.body])
    for (const name of ['location', 'etag', 'content-type']) {
      expect(again.headers.get(name)).toBe(first.headers.get(name))
    }
    expect(again.headers.get('request-id')).not.toBe(first.headers.get('request-id'))
    const replayed = [first, again].map(({ headers }) => headers.get('idempotency-replayed'))
    expect(replayed).toEqual([null, 'true'])
    expect(await count('Once')).toBe(1)
  })

  test('with another body is refused, and makes nothing', async () => {
    await post({ name: 'First' }, 'reused')
    expectProblem(await post({ name: 'Second' }, 'reused'), 422, 'idempotency-key-reused')
    expect(await count('Second')).toBe(0)
    expect((await post({ name: 'First' }, 'reused')).status).toBe(201)
  })

  test('belongs to its organization and its operation', async () => {
    const other = await service.organization()
    const responses = [
      await post({ name: 'Scoped' }, 'scoped'),
      await post({ name: 'Scoped' }, 'scoped', other.api),
      await merchant.api.post('customers', {}, { 'Idempotency-Key': 'scoped' }),
    ]
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201])
    expect(await count('Scoped')).toBe(2)
  })

  test('keeps a 422 and a 409, though the reason has gone meanwhile', async () => {
    const body = { websiteId: 'not-yet' }
    const headers = { 'Idempotency-Key': 'refused' }
    const refused = await merchant.api.post('customers', body, headers)
    expect(expectProblem(refused, 422, 'validation-error')).toEqual(['websiteId'])
    await merchant.api.put('websites/not-yet', { name: 'Now' })
    const again = await merchant.api.post('customers', body, headers)
    expect(expectProblem(again, 422, 'validation-error')).toEqual(['websiteId'])
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect((await merchant.api.post('customers', body)).status).toBe(201)

    const { body: order } = await merchant.api.post('subscriptions', orderBody(merchant))
    const pause = await merchant.api.post('subscription-pauses', { subscriptionId: order.id })
    const key = { 'Idempotency-Key': 'conflicting' }
    const again409 = () => merchant.api.post('subscription-pauses', { subscriptionId: order.id }, key)
    expectProblem(await again409(), 409, 'conflict')
    expect((await merchant.api.delete(`subscription-pauses/${pause.body.id}`)).status).toBe(204)
    expectProblem(await again409(), 409, 'conflict')
    expect((await merchant.api.post('subscription-pauses', { subscriptionId: order.id })).status).toBe(201)
  })

  test('keeps no 400, 403 or 415: corrected, the request goes through', async () => {
    const key = { 'Idempotency-Key': 'corrected' }
    expectProblem(
      await merchant.api.send('POST', 'websites', {
        body: '{',
        headers: { ...key, 'Content-Type': 'application/json' },
      }),
      400,
      'malformed-request',
    )
    expect((await post({ name: 'Corrected' }, 'corrected')).status).toBe(201)
  })

  test('of many at once makes one: the others wait for nothing, they get 409 or the answer', async () => {
    const responses = await Promise.all(Array.from({ length: 12 }, () => post({ name: 'Raced' }, 'raced')))
    expect(await count('Raced')).toBe(1)
    for (const response of responses) {
      if (response.status === 409) expectProblem(response, 409, 'conflict')
      else expect(response.status).toBe(201)
    }
    const ids = responses.filter(({ status }) => status === 201).map(({ body }) => body.id)
    expect(new Set(ids).size).toBe(1)
    expect((await post({ name: 'Raced' }, 'raced')).body.id).toBe(ids[0])
  })

  test('whose first request still runs is 409, until that ends or its connection dies', async () => {
    const transactionId = await externalSale(merchant.api, merchant.customerId)
    const open = () =>
      merchant.api.post('disputes', disputeBody(transactionId), { 'Idempotency-Key': 'running' })
    // Holds the first request in the middle of its transaction.
    const blocker = new pg.Client({ connectionString: service.databaseUrl })
    await blocker.connect()
    await blocker.query('begin')
    await blocker.query('lock table disputes in share mode')
    const first = open()
    const isWaiting = async () =>
      (
        await sql(
          `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
      )[0]
    let waiting = await isWaiting()
    while (waiting === undefined) waiting = await isWaiting()
    expectProblem(await open(), 409, 'conflict')
    // As if its process had been killed: the transaction goes, and the key with it.
    await sql('select pg_terminate_backend(?)', [waiting.pid])
    expect((await first).status).toBeGreaterThanOrEqual(500)
    await blocker.end()
    const again = await open()
    expect(again.status).toBe(201)
    expect((await open()).body).toEqual(again.body)
    const disputes = await sql('select 1 from disputes where organization_id = ?', [merchant.organizationId])
    expect(disputes).toHaveLength(1)
  })

  test('whose first request still runs is not taken by another with an invalid body', async () => {
    const blocker = new pg.Client({ connectionString: service.databaseUrl })
    await blocker.connect()
    try {
      await blocker.query('begin')
      await blocker.query('lock table websites in share mode')
      const first = post({ name: 'Kept' }, 'kept')
      await waitFor('the first request to be in the middle of its transaction', async () => {
        const held = await sql(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return held.length > 0 ? true : null
      })
      expectProblem(await post({ name: 7 }, 'kept'), 409, 'conflict')
      await blocker.query('rollback')
      const made = await first
      expect(made.status).toBe(201)
      expect((await post({ name: 'Kept' }, 'kept')).body).toEqual(made.body)
      expectProblem(await post({ name: 7 }, 'kept'), 422, 'idempotency-key-reused')
    } finally {
      await blocker.end()
    }
  })

  test('is free again when the process of its first request was killed in the middle, and nothing was made', async () => {
    const port = await freePort()
    const env = {
      DATABASE_URL: service.databaseUrl,
      MASTER_KEY: masterKey,
      BASE_URL: `http://127.0.0.1:${port}`,
      PORT: String(port),
      OPS_PORT: '0',
      LOG_LEVEL: 'warn',
    }
    const process = serviceProcess('api/main.ts', env, '/dev/null')
    await process.start()
    const blocker = new pg.Client({ connectionString: service.databaseUrl })
    await blocker.connect()
    try {
      const victim = apiClient(`http://127.0.0.1:${port}`, merchant.organizationId, {
        'SVC-APIKEY': merchant.secretKey,
      })
      await blocker.query('begin')
      await blocker.query('lock table websites in share mode')
      const first = post({ name: 'Killed' }, 'killed', victim).catch((error: unknown) => error)
      await waitFor('the request to be in the middle of its transaction', async () => {
        const held = await sql(
          `select 1 from pg_stat_activity where datname = current_database() and application_name = 'billing api'
              and wait_event_type = 'Lock'`,
        )
        return held.length > 0 ? true : null
      })
      expectProblem(await post({ name: 'Killed' }, 'killed'), 409, 'conflict')
      await process.kill()
      expect(Error.isError(await first)).toBe(true)
      await blocker.query('rollback')
      const again = await waitFor('the key to be free', async () => {
        const response = await post({ name: 'Killed' }, 'killed')
        return response.status === 409 ? null : response
      })
      expect(again.status).toBe(201)
      expect((await post({ name: 'Killed' }, 'killed')).body).toEqual(again.body)
      expect(await count('Killed')).toBe(1)
    } finally {
      await process.kill()
      await blocker.end()
    }
  }, 60_000)

  test('is kept in the transaction of the change: without the record no change, without the change no record', async () => {
    await sql(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`,
    )
    await sql(
      'create trigger refuse before insert on idempotency_records for each row execute function refuse()',
    )
    try {
      expectProblem(await post({ name: 'Atomic' }, 'atomic'), 500, 'internal-error')
      expect(await count('Atomic')).toBe(0)
    } finally {
      await sql('drop trigger refuse on idempotency_records')
    }
    expect((await post({ name: 'Atomic' }, 'atomic')).status).toBe(201)
  })

  test('is kept encrypted', async () => {
    await post({ name: 'Confidential' }, 'sealed')
    const rows = await sql('select * from idempotency_records')
    expect(rows.length).toBeGreaterThan(0)
    expect(JSON.stringify(rows)).not.toContain('Confidential')
  })

  test('is kept for a day; a day later its record is removed', async () => {
    const first = await post({ name: 'Old' }, 'old')
    const age = (interval: string) =>
      sql(`update idempotency_records set created_time = now() - interval '${interval}' where key = 'old'`)
    await age('23 hours 59 minutes')
    expect((await post({ name: 'Old' }, 'old')).body.id).toBe(first.body.id)
    await age('24 hours 1 minute')
    const anew = await post({ name: 'Old' }, 'old')
    expect(anew.body.id).not.toBe(first.body.id)
    expect((await post({ name: 'Old' }, 'old')).body.id).toBe(anew.body.id)
    const others =
      Number((await sql<{ count: string }>('select count(*) from idempotency_records'))[0]?.count) - 1
    await age('3 days')
    await sql(
      `insert into rate_limits (key, points, expire) values ('gone', 1, 1), ('here', 1, 99999999999999)`,
    )
    await removeExpired(service.database.orm.em.fork(), 1)
    expect(await sql(`select 1 from idempotency_records where key = 'old'`)).toEqual([])
    expect(await sql('select 1 from idempotency_records')).toHaveLength(others)
    expect(await sql(`select key from rate_limits where key in ('gone', 'here')`)).toEqual([{ key: 'here' }])
  })

  test('of more than 255 characters is refused', async () => {
    expectProblem(await post({ name: 'Long' }, 'k'.repeat(256)), 400, 'malformed-request')
    expect((await post({ name: 'Long' }, 'k'.repeat(255))).status).toBe(201)
  })
})
