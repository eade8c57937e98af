/** Statements that are asked often, kept by name. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { MikroORM } from '@mikro-orm/postgresql'
import { openOrm } from '../../db/orm.ts'
import { COMPOSED, isOutdatedStatement } from '../../db/prepared-statements.ts'
import { statement } from '../../db/statement.ts'
import { startService, type TestService } from '../rig/service.ts'

describe('statements that are asked often', () => {
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

  const ask = <T extends object>(text: string, values: unknown[] = []) => statement<T>(orm.em, text, values)
  const kept = async (part: string) =>
    await ask<{ name: string }>(`select name from pg_prepared_statements where statement like '%${part}%'`)

  test('are parsed once and kept by the connection; a text asked once, or composed for a caller, is not', async () => {
    for (let turn = 0; turn < 20; turn += 1) {
      expect(await ask('select ?::int * 2 as often', [turn])).toEqual([{ often: turn * 2 }])
    }
    expect(await kept('as often')).toHaveLength(1)
    for (let turn = 0; turn < 20; turn += 1) await ask(`select ?::int as seldom_${turn}`, [turn])
    expect(await kept('as seldom')).toEqual([])
    for (let turn = 0; turn < 20; turn += 1) await ask(`${COMPOSED}select ?::int as composed`, [turn])
    expect(await kept('as composed')).toEqual([])
  })

  test('are given up when their table has changed: one call fails, and none after it', async () => {
    await ask('create table changing (id int, name text)')
    await ask("insert into changing values (1, 'one')")
    const read = () => ask('select * from changing where id = ?', [1])
    for (let turn = 0; turn < 20; turn += 1) expect(await read()).toEqual([{ id: 1, name: 'one' }])
    await ask('alter table changing add column more int default 5')
    const failure = await read().catch((error: unknown) => error)
    expect(isOutdatedStatement(failure)).toBe(true)
    for (let turn = 0; turn < 20; turn += 1) expect(await read()).toEqual([{ id: 1, name: 'one', more: 5 }])
  })

  test('with a table changed under them a request gets 503 at most, and the next is answered', async () => {
    const merchant = await service.organization()
    const { body } = await merchant.api.post('customers', { firstName: 'Ada' })
    const read = () => merchant.api.get(`customers/${body.id}`)
    for (let turn = 0; turn < 20; turn += 1) expect((await read()).status).toBe(200)
    await ask('alter table customers add column later_column text')
    await ask('alter table api_keys add column later_column text')
    const answers = await Promise.all(Array.from({ length: 10 }, read))
    for (const answer of answers) expect([200, 503]).toContain(answer.status)
    const refused = answers.find(({ status }) => status === 503)
    if (refused !== undefined) expect(refused.headers.get('retry-after')).not.toBeNull()
    for (let turn = 0; turn < 30; turn += 1) await read()
    for (let turn = 0; turn < 20; turn += 1) expect((await read()).status).toBe(200)
  })
})
