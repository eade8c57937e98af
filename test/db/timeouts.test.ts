import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { MikroORM } from '@mikro-orm/postgresql'
import pg from 'pg'
import { Customer } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import { openOrm } from '../../db/orm.ts'
import { composedStatement } from '../../db/statement.ts'
import { freePort } from '../../dev/services/ports.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { forward } from '../support/forward.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

/** Of the service: its transactions may be slow on a busy machine, but none of its statements are. */
const SHORT = { lock: 300, statement: 2_000, idleInTransaction: 30_000 }
/** Of connections that only the test uses. */
const SHORTEST = { lock: 300, statement: 1_000, idleInTransaction: 500 }

describe('with a limit for everything', () => {
  let service: TestService
  let merchant: Catalogue
  let other: pg.Client

  beforeAll(async () => {
    service = await startService({ worker: false, timeouts: SHORT })
    merchant = await catalogue(service)
    other = new pg.Client({ connectionString: service.databaseUrl })
    await other.connect()
  })
  afterAll(async () => {
    await other.end()
    await service.stop()
  })

  const changeCustomer = () => merchant.api.put(`customers/${merchant.customerId}`, { firstName: 'Grace' })
  const opened = async <T>(
    work: (orm: MikroORM) => Promise<T>,
    options: { databaseUrl?: string; timeouts?: typeof SHORT } = {},
  ): Promise<T> => {
    const orm = await openOrm({ databaseUrl: service.databaseUrl, poolSize: 1, ...options })
    try {
      return await work(orm)
    } finally {
      await orm.close()
    }
  }

  test('a row that another transaction holds is refused with 503, and changed once it is free', async () => {
    await other.query('begin')
    await other.query('select 1 from customers where id = $1 for update', [merchant.customerId])
    const refused = await changeCustomer()
    await other.query('rollback')
    expectProblem(refused, 503, 'unavailable')
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await changeCustomer()).status).toBe(200)
  })

  test('a statement that takes too long is refused with 503', async () => {
    await other.query(`
      create function linger() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return new; end $$;
      create trigger linger before insert on websites for each row execute function linger()`)
    const refused = await merchant.api.put('websites/web_slow', { name: 'Slow' })
    await other.query('drop trigger linger on websites')
    expectProblem(refused, 503, 'unavailable')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await merchant.api.get('websites/web_slow')).status).toBe(404)
    expect((await merchant.api.put('websites/web_slow', { name: 'Quick' })).status).toBe(201)
  })

  test('a transaction that stands still is ended by the server: its row is free, and its caller learns it', async () => {
    const { organizationId, customerId } = merchant
    await opened(
      async (orm) => {
        const transaction = orm.em.fork().transactional(async (em) => {
          await lockRow({ em, organizationId }, Customer, customerId)
          await waitFor('the row to be free', async () =>
            (await changeCustomer()).status === 200 ? true : null,
          )
          await composedStatement(em, 'select 1')
        })
        await expect(transaction).rejects.toThrow()
        expect(await composedStatement(orm.em, 'select 1 as one')).toEqual([{ one: 1 }])
      },
      { timeouts: SHORTEST },
    )
  })

  test('a connection that swallows what is sent fails its statement, and is replaced', async () => {
    const url = new URL(service.databaseUrl)
    const port = await freePort()
    const between = await forward(port, `${url.hostname}:${url.port}`)
    url.host = `127.0.0.1:${port}`
    await opened(
      async (orm) => {
        await composedStatement(orm.em, 'select 1')
        between.swallow()
        const transaction = orm.em.fork().transactional((em) => composedStatement(em, 'select 1'))
        await expect(transaction).rejects.toThrow('timeout')
        between.heal()
        expect(await composedStatement(orm.em, 'select 1 as one')).toEqual([{ one: 1 }])
      },
      { databaseUrl: url.href, timeouts: SHORTEST },
    )
    await between.close()
  })

  test('production has limits of seconds, and the server looks for lost peers', async () => {
    const settings = [
      'lock_timeout',
      'statement_timeout',
      'idle_in_transaction_session_timeout',
      'tcp_keepalives_idle',
      'tcp_user_timeout',
    ]
    const rows = await opened((orm) =>
      composedStatement<{ setting: string }>(
        orm.em,
        `select current_setting(name) as setting from unnest(?::text[]) as name`,
        [settings],
      ),
    )
    expect(rows.map(({ setting }) => setting)).toEqual(['5s', '15s', '30s', '10', '20000'])
  })
})
