/** Statements with a name are prepared: parsed and planned once by each connection. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { MikroORM } from '@mikro-orm/postgresql'
import { isOutdatedStatement } from '../../db/driver.ts'
import { isInfrastructureFailure } from '../../db/infrastructure-failure.ts'
import { openOrm } from '../../db/orm.ts'
import { composedStatement, statement } from '../../db/statement.ts'
import { startService, type TestService } from '../support/service.ts'

describe('statements with a name', () => {
  let service: TestService
  let orm: MikroORM
  beforeAll(async () => {
    service = await startService({ worker: false })
    // One connection: the names are its own.
    orm = await openOrm({ databaseUrl: service.databaseUrl, poolSize: 1 })
  })
  afterAll(async () => {
    await orm.close()
    await service.stop()
  })

  const ask = <T extends object>(text: string, values: unknown[] = []) =>
    composedStatement<T>(orm.em, text, values)
  const prepared = async (part: string) =>
    await ask<{ name: string }>(`select name from pg_prepared_statements where statement like '%${part}%'`)

  test('are prepared once for a connection; composed ones are not', async () => {
    for (let call = 0; call < 5; call += 1) {
      expect(await statement(orm.em, 'double', 'select ?::int * 2 as doubled', [call])).toEqual([
        { doubled: call * 2 },
      ])
    }
    expect(await prepared('as doubled')).toHaveLength(1)
    for (let call = 0; call < 5; call += 1) await ask('select ?::int as composed', [call])
    expect(await prepared('as composed')).toEqual([])
  })

  test('stand for one text each', async () => {
    await statement(orm.em, 'only-one', 'select 1 as one')
    await expect(statement(orm.em, 'only-one', 'select 2 as two')).rejects.toThrow(/must be unique/)
  })

  test('are prepared anew when their table has changed: one call fails, and none after it', async () => {
    await ask('create table changing (id int, name text)')
    await ask("insert into changing values (1, 'one')")
    const read = () => statement(orm.em, 'read-changing', 'select * from changing where id = ?', [1])
    for (let call = 0; call < 5; call += 1) expect(await read()).toEqual([{ id: 1, name: 'one' }])
    await ask('alter table changing add column more int default 5')
    const failure = await read().catch((error: unknown) => error)
    expect(isOutdatedStatement(failure)).toBe(true)
    expect(isInfrastructureFailure(failure)).toBe(true)
    for (let call = 0; call < 5; call += 1) expect(await read()).toEqual([{ id: 1, name: 'one', more: 5 }])
  })

  test('with a table changed under them a request gets 503 at most, and the next is answered', async () => {
    const merchant = await service.organization()
    const { body } = await merchant.api.post('customers', { firstName: 'Ada' })
    const read = () => merchant.api.get(`customers/${body.id}`)
    for (let call = 0; call < 20; call += 1) expect((await read()).status).toBe(200)
    await ask('alter table customers add column later_column text')
    await ask('alter table api_keys add column later_column text')
    const responses = await Promise.all(Array.from({ length: 10 }, read))
    for (const response of responses) expect([200, 503]).toContain(response.status)
    const refused = responses.find(({ status }) => status === 503)
    if (refused !== undefined) expect(refused.headers.get('retry-after')).not.toBeNull()
    for (let call = 0; call < 30; call += 1) await read()
    for (let call = 0; call < 20; call += 1) expect((await read()).status).toBe(200)
  })
})
