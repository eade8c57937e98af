import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { openOrm } from '../../db/orm.ts'
import { storedInstant } from '../../db/stored-instant.ts'
import { catalogue, orderBody } from '../support/catalogue.ts'
import { disputeBody, externalSale } from '../support/dispute.ts'
import { startService, type TestService } from '../support/service.ts'

describe('an instant of the database', () => {
  test.each([
    ['2026-01-15 09:00:00+00', '2026-01-15T09:00:00.000Z'],
    ['2026-01-15 09:00:00.5+05:30', '2026-01-15T03:30:00.500Z'],
    ['2026-01-15T09:00:00.123456-03:00', '2026-01-15T12:00:00.123Z'],
    ['1970-01-01 00:00:00+00', '1970-01-01T00:00:00.000Z'],
    ['9999-12-31 23:59:59.999+00', '9999-12-31T23:59:59.999Z'],
  ])('%s is read as %s', (text, instant) => {
    expect(new Date(storedInstant(text)).toISOString()).toBe(instant)
  })

  test.each([
    '0026-01-15 00:00:00+00',
    '0001-01-01 00:00:00+00',
    '0044-03-15 00:00:00+00 BC',
    '10000-01-01 00:00:00+00',
    '1969-12-31 23:59:59.999+00',
    '2026-01-15 09:00:00',
    '15.01.2026 09:00:00 UTC',
    'infinity',
    '',
  ])('%j is none', (text) => {
    expect(() => storedInstant(text)).toThrow('the database holds no valid instant')
  })
})

describe('a database', () => {
  let service: TestService
  const sql = <T>(text: string) => service.database.orm.em.fork().getConnection().execute<T[]>(text)

  beforeAll(async () => {
    service = await startService({ worker: false })
  })
  afterAll(() => service.stop())

  test('whose server writes dates and times of another style and zone is read alike', async () => {
    const { api } = await catalogue(service)
    const before = await api.get<{ createdTime: string }[]>('customers')
    const admin = new pg.Client({ connectionString: service.databaseUrl })
    await admin.connect()
    const { pathname } = new URL(service.databaseUrl)
    const database = pg.escapeIdentifier(pathname.slice(1))
    await admin.query(`alter database ${database} set datestyle = 'German'`)
    await admin.query(`alter database ${database} set timezone = 'Asia/Kolkata'`)
    const orm = await openOrm({ databaseUrl: service.databaseUrl, poolSize: 1 })
    try {
      const [row] = await orm.em
        .getConnection()
        .execute<{ created_time: string }[]>('select created_time from customers')
      expect(row?.created_time).toBe(before.body[0]?.createdTime)
    } finally {
      await orm.close()
      await admin.query(`alter database ${database} reset all`)
      await admin.end()
    }
  })

  test('with instants that earlier releases took is repaired by a migration: its lists are read again', async () => {
    const merchant = await catalogue(service)
    const { api } = merchant
    const sale = await externalSale(api, merchant.customerId)
    const make = async (path: string, body: object) => String((await api.post(path, body)).body.id)
    const deadlineTime = '2030-01-01T00:00:00.000Z'
    const early = await make('disputes', disputeBody(sale, { deadlineTime }))
    const late = await make('disputes', disputeBody(sale, { deadlineTime }))
    const sound = await make('disputes', disputeBody(sale, { deadlineTime }))
    const trial = { enabled: true, endTime: '2040-01-01T00:00:00.000Z' }
    const orders = await Promise.all(
      [1, 2, 3].map(() => make('subscriptions', orderBody(merchant, { trial }))),
    )

    await sql(
      `update disputes set deadline_time = '0026-01-15', posted_time = '-infinity' where id = '${early}'`,
    )
    await sql(`update disputes set deadline_time = '10000-01-01' where id = '${late}'`)
    await sql(`update events set event_time = '0026-01-15' where entity_id = '${early}'`)
    for (const [index, endTime] of ['0026-01-15T00:00:00.000Z', '+010000-01-01T00:59:59.000Z'].entries()) {
      await sql(
        `update subscriptions set trial = jsonb_set(trial, '{endTime}', '"${endTime}"') where id = '${orders[index]}'`,
      )
    }
    expect((await api.get('disputes')).status).toBe(500)

    await sql("delete from schema_migrations where name like '%instants_in_range'")
    await service.database.orm.migrator.up()

    const times = async (path: string) => {
      const { status, body } = await api.get(path)
      expect({ path, status }).toEqual({ path, status: 200 })
      return body
    }
    const [EARLIEST, LATEST] = ['1970-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z']
    expect(await times(`disputes/${early}`)).toMatchObject({
      deadlineTime: EARLIEST,
      postedTime: EARLIEST,
      revision: 2,
    })
    expect(await times(`disputes/${late}`)).toMatchObject({ deadlineTime: LATEST, revision: 2 })
    expect(await times(`disputes/${sound}`)).toMatchObject({ deadlineTime, revision: 1 })
    const trials = await Promise.all(orders.map((id) => times(`subscriptions/${id}`)))
    expect(trials.map((order) => (order as { trial?: { endTime?: string } }).trial?.endTime)).toEqual([
      EARLIEST,
      LATEST,
      trial.endTime,
    ])
    for (const list of ['disputes', 'events', 'subscriptions']) expect((await api.get(list)).status).toBe(200)
    const moved = await sql("select 1 from events where event_time = '1970-01-01T00:00:00Z'")
    expect(moved).toHaveLength(1)
    // As it was emitted, for the checks at the end of the service.
    await sql(`update events set event_time = created_time where entity_id = '${early}'`)
  })
})
