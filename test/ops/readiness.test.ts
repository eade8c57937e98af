import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { MikroORM } from '@mikro-orm/postgresql'
import { openOrm } from '../../db/orm.ts'
import { databaseChecks } from '../../db/readiness.ts'
import { freePort } from '../../dev/services/ports.ts'
import { type Checks, createReadiness, type ReadinessReport } from '../../ops/readiness.ts'
import { startService, type TestService } from '../support/service.ts'

const running = (): AbortSignal => new AbortController().signal

describe('a readiness report', () => {
  const fine: Checks = { first: async () => null, second: async () => null }
  const failing: Checks = { other: async () => 'it is away' }

  test.each<[string, { required: Checks; degrading?: Checks; stopping?: AbortSignal }, ReadinessReport]>([
    [
      'all is well',
      { required: fine },
      { status: 'ready', checks: { first: 'ok', second: 'ok', stopping: 'ok' } },
    ],
    [
      'something needed is away',
      { required: { ...fine, ...failing } },
      { status: 'not ready', checks: { first: 'ok', second: 'ok', other: 'it is away', stopping: 'ok' } },
    ],
    [
      'something beside it is away',
      { required: {}, degrading: failing },
      { status: 'degraded', checks: { other: 'it is away', stopping: 'ok' } },
    ],
    [
      'a check throws',
      { required: { broken: () => Promise.reject(new Error('no idea')) } },
      { status: 'not ready', checks: { broken: 'no idea', stopping: 'ok' } },
    ],
    [
      'a check does not end',
      { required: { hanging: () => new Promise(() => {}) } },
      { status: 'not ready', checks: { hanging: 'no answer within 4 s', stopping: 'ok' } },
    ],
    [
      'the process is stopping',
      { required: {}, stopping: AbortSignal.abort() },
      { status: 'not ready', checks: { stopping: 'the process is stopping' } },
    ],
  ])('when %s', async (_name, { stopping = running(), ...checks }, wanted) => {
    expect(await createReadiness({ stopping, ...checks }).report()).toEqual(wanted)
  })
})

describe('the checks of the database tell apart', () => {
  let service: TestService
  let orm: MikroORM
  const sql = (text: string) => orm.em.fork().getConnection().execute(text)
  const report = async (of: MikroORM, now: () => number = Date.now) => {
    const readiness = createReadiness({ stopping: running(), required: databaseChecks(of, now) })
    const { checks } = await readiness.report()
    return Object.fromEntries(Object.entries(checks).filter(([, result]) => result !== 'ok'))
  }
  const withOrm = async <T>(databaseUrl: string, work: (other: MikroORM) => Promise<T>): Promise<T> => {
    const other = await openOrm({ databaseUrl, poolSize: 1, connectTimeout: 3_000 })
    try {
      return await work(other)
    } finally {
      await other.close(true)
    }
  }

  beforeAll(async () => {
    service = await startService({ worker: false })
    orm = service.database.orm
  })
  afterAll(() => service.stop())

  test('nothing wrong', async () => {
    expect(await report(orm)).toEqual({})
  })

  test('a server that is away', async () => {
    const url = new URL(service.databaseUrl)
    url.port = String(await freePort())
    const found = await withOrm(url.href, report)
    expect(found).toEqual({ database: expect.stringContaining('ECONNREFUSED') })
  })

  test('connections of the process that are all in use', async () => {
    const found = await withOrm(service.databaseUrl, (other) =>
      other.em.fork().transactional(async (em) => {
        await em.getConnection().execute('select 1', [], 'run', em.getTransactionContext())
        return await report(other)
      }),
    )
    expect(found).toEqual({ connections: 'all connections of this process are in use' })
  })

  test('a server that gives no more connections', async () => {
    const role = `crowded_${process.pid}`
    await sql(`create role ${role} login password 'crowded' connection limit 0`)
    try {
      const url = new URL(service.databaseUrl)
      url.username = role
      url.password = 'crowded'
      expect(await withOrm(url.href, report)).toEqual({
        connections: 'the server gives no more connections',
      })
    } finally {
      await sql(`drop role ${role}`)
    }
  })

  test('a disk that is full', async () => {
    await sql(`create function no_room() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`)
    await sql('create trigger no_room before insert on installation for each row execute function no_room()')
    try {
      expect(await report(orm)).toEqual({ disk: 'the disk of the server is full' })
    } finally {
      await sql('drop trigger no_room on installation')
    }
  })

  test.each([
    ['ahead of', 5_000],
    ['behind', -5_000],
  ])('a clock %s the database', async (direction, offset) => {
    const found = await report(orm, () => Date.now() + offset)
    expect(found).toEqual({ clock: expect.stringMatching(new RegExp(`s ${direction} the database's$`)) })
  })
})
