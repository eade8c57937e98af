import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pino from 'pino'
import { removeExpired, startRetention } from '../../worker/retention.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ worker: false })
})
afterAll(() => service.stop())

const sql = <T>(text: string) => service.database.orm.em.fork().getConnection().execute<T[]>(text)

test('a daily removal of expired rows that failed is repeated soon, later each time, and counted', async () => {
  await sql(
    `insert into sign_in_failures (organization_id, id, subject, failed_time)
     values ('org_1', 'sif_1', repeat('a', 64), now() - interval '2 days')`,
  )
  await sql(
    `create function refuse() returns trigger language plpgsql as 'begin raise exception ''refused by the test''; end'`,
  )
  await sql('create trigger refuse before delete on sign_in_failures for each row execute function refuse()')
  let failures = 0
  const said: { err?: { message: string }; repeatedAfter?: number }[] = []
  const retention = startRetention({
    databaseUrl: service.databaseUrl,
    failures: {
      inc() {
        failures += 1
      },
    },
    log: pino({ level: 'warn' }, { write: (line) => void said.push(JSON.parse(line)) }),
    retryAfter: 50,
  })
  try {
    await waitFor('three failures', () => failures >= 3 || null)
    expect(said.slice(0, 3).map(({ repeatedAfter }) => repeatedAfter)).toEqual([50, 100, 200])
    expect(said[0]?.err?.message).toContain('refused by the test')
    await sql('drop function refuse cascade')
    await waitFor(
      'the removal',
      async () => (await sql('select 1 from sign_in_failures')).length === 0 || null,
    )
  } finally {
    await retention.stop()
  }
})

test('what a provider told is removed after 30 days, unless it is still to be processed', async () => {
  await sql(
    `insert into gateway_notifications (organization_id, gateway_account_id, id, type, record, object, occurred_time, rank,
                                        content, status, due_time, received_time)
     select 'org_1', 'main', status || days, 'other', 'ch_1', 'ch_1', now(), 0, '{"kind":"other","reason":"type"}', status,
            now() + interval '1 hour', now() - make_interval(days => days)
       from unnest(array['received', 'applied']) status, unnest(array[29, 31]) days`,
  )
  await removeExpired(service.database.orm.em.fork())
  const kept = await sql<{ id: string }>('select id from gateway_notifications order by id')
  expect(kept.map(({ id }) => id)).toEqual(['applied29', 'received29', 'received31'])
})
