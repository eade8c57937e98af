import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql'
import pg from 'pg'
import { createCustomer, type NewCustomer } from '../../commands/catalog/create-customer.ts'
import { createWebsite } from '../../commands/catalog/create-website.ts'
import { Customer } from '../../db/entities/index.ts'
import { exchange } from '../../db/exchange.ts'
import { lockRow } from '../../db/lock-row.ts'
import { openOrm } from '../../db/orm.ts'
import { composedStatement, lastStatement, statement } from '../../db/statement.ts'
import { inUnitOfWork, type UnitOfWork } from '../../db/unit-of-work.ts'
import { freePort } from '../../dev/services/ports.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import fc from '../support/fast-check.ts'
import { type Forward, forward } from '../support/forward.ts'
import { startService, type TestService } from '../support/service.ts'

const ADA: NewCustomer = {
  email: 'ada@example.com',
  firstName: 'Ada',
  lastName: null,
  websiteId: null,
  defaultPaymentInstrumentId: null,
  primaryAddress: null,
  locale: null,
  taxNumbers: null,
  leadSource: null,
  customFields: {},
}

const PLACES = 2

describe('a transaction', () => {
  let service: TestService
  let merchant: Catalogue
  let toDatabase: Forward
  let orm: MikroORM
  let other: pg.Client

  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await catalogue(service)
    const url = new URL(service.databaseUrl)
    const port = await freePort()
    toDatabase = await forward(port, `${url.hostname}:${url.port}`)
    url.host = `127.0.0.1:${port}`
    orm = await openOrm({ databaseUrl: url.href, poolSize: PLACES, name: 'under test' })
    other = new pg.Client({ connectionString: service.databaseUrl })
    await other.connect()
    await other.query(`
      create table steps (run text, step int, constraint one_each unique (run, step) deferrable initially deferred);
      create table ends (run text primary key);
      create function end_connection() returns trigger language plpgsql as
        $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
      create constraint trigger ends after insert on ends deferrable initially deferred
        for each row execute function end_connection()`)
  })
  afterAll(async () => {
    await other.end()
    await orm.close()
    await toDatabase.close()
    await service.stop()
  })
  afterEach(async () => {
    // Every place of the pool is free, and none of its connections is left in a transaction.
    const met: (() => void)[] = []
    await Promise.all(
      Array.from({ length: PLACES }, () =>
        em().transactional(async (trx) => {
          await composedStatement(trx, 'select 1')
          await new Promise<void>((resolve) => {
            met.push(resolve)
            if (met.length === PLACES) for (const meet of met) meet()
          })
        }),
      ),
    )
    const { rows } = await other.query(
      "select state from pg_stat_activity where application_name = 'under test' and state <> 'idle'",
    )
    expect(rows).toEqual([])
  })

  const em = () => orm.em.fork()
  let runs = 0
  const newRun = () => {
    runs += 1
    return `run ${runs}`
  }
  const step = (trx: EntityManager, run: string, number: number) =>
    statement(trx, 'test-step', 'insert into steps values (?, ?)', [run, number])
  const lastStep = (trx: EntityManager, run: string, number: number) =>
    lastStatement(trx, 'test-last-step', 'insert into steps values (?, ?)', [run, number])
  const stepsOf = async (run: string) =>
    (await other.query('select step from steps where run = $1 order by step', [run])).rows.map(
      (row) => row.step as number,
    )
  const unitOf = (work: (unit: UnitOfWork) => Promise<unknown>) =>
    inUnitOfWork(
      em(),
      { organizationId: merchant.organizationId, baseUrl: service.baseUrl, now: new Date() },
      work,
    )
  const roundTripsOf = async (work: () => Promise<unknown>): Promise<number> => {
    await work() // connected, and prepared
    const before = toDatabase.roundTrips()
    await work()
    return toDatabase.roundTrips() - before
  }

  describe('takes as many round trips as it has statements', () => {
    const website = { name: 'Shop', url: null, servicePhone: null, serviceEmail: null, customFields: null }

    test('one, where the record is all that is written', async () => {
      let made = 0
      const work = () => unitOf((unit) => createCustomer(unit, `cus_round_${++made}`, ADA))
      expect(await roundTripsOf(work)).toBe(1)
    })

    test('two, where a row is locked before', async () => {
      const work = () =>
        unitOf(async (unit) => {
          await lockRow(unit, Customer, merchant.customerId)
          unit.wake('subscription', 'sub_none', { dueBy: null })
        })
      expect(await roundTripsOf(work)).toBe(2)
    })

    test('one more, where nothing follows from the change: its commit', async () => {
      let made = 0
      const work = () => unitOf(async (unit) => createWebsite(unit, `web_round_${++made}`, website))
      expect(await roundTripsOf(work)).toBe(2)
    })

    test('none, where it has none', async () => {
      expect(await roundTripsOf(() => em().transactional(async () => {}))).toBe(0)
    })
  })

  describe('writes nothing and throws', () => {
    const doing: Record<string, [RegExp, (trx: EntityManager, run: string) => Promise<unknown>]> = {
      'where its first statement fails': [
        /division by zero/,
        (trx) => statement(trx, 'test-fail', 'select 1 / 0'),
      ],
      'where its only statement, the last, fails': [
        /division by zero/,
        (trx) => lastStatement(trx, 'test-fail-last', 'select 1 / 0'),
      ],
      'where a later statement fails': [
        /division by zero/,
        async (trx, run) => {
          await step(trx, run, 1)
          await statement(trx, 'test-fail', 'select 1 / 0')
        },
      ],
      'where its last statement fails': [
        /division by zero/,
        async (trx, run) => {
          await step(trx, run, 1)
          await lastStatement(trx, 'test-fail-last', 'select 1 / 0')
        },
      ],
      'where the commit fails': [
        /one_each/,
        async (trx, run) => {
          await step(trx, run, 1)
          await step(trx, run, 1)
        },
      ],
      'where the commit with its last statement fails': [
        /one_each/,
        async (trx, run) => {
          await step(trx, run, 1)
          await lastStep(trx, run, 1)
        },
      ],
      'where the commit of its only statement fails': [
        /one_each/,
        (trx, run) =>
          lastStatement(trx, 'test-twice', 'insert into steps select ?, 1 from generate_series(1, 2)', [run]),
      ],
      'where the connection ends at the commit of its only statement': [
        /terminat/,
        (trx, run) =>
          lastStatement(
            trx,
            'test-end-only',
            'with step as (insert into steps values (?, 1)) insert into ends values (?)',
            [run, run],
          ),
      ],
      'where it has failed, and goes on as if it had not': [
        /rolled back/,
        async (trx, run) => {
          await step(trx, run, 1)
          await statement(trx, 'test-fail', 'select 1 / 0').catch(() => {})
        },
      ],
      'where its only statement has failed, and it goes on as if it had not': [
        /rolled back/,
        async (trx, run) => {
          await lastStatement(trx, 'test-fail-last', 'select 1 / 0').catch(() => {})
          await step(trx, run, 1).catch(() => {})
        },
      ],
      'where it has failed, and its last statement comes all the same': [
        /current transaction is aborted/,
        async (trx, run) => {
          await step(trx, run, 1)
          await statement(trx, 'test-fail', 'select 1 / 0').catch(() => {})
          await lastStep(trx, run, 2)
        },
      ],
      'where a value of its first statement cannot be sent': [
        /cannot be sent/,
        async (trx) => {
          const value = {
            toPostgres() {
              throw new Error('cannot be sent')
            },
          }
          await lastStatement(trx, 'test-unsendable', 'insert into steps values (?, 1)', [value])
        },
      ],
      'where a name stands for another text': [
        /must be unique/,
        async (trx, run) => {
          await step(trx, run, 1)
          await lastStatement(trx, 'test-step', 'insert into steps values (?, 3)', [run])
        },
      ],
      'where its own code does': [
        /changed its mind/,
        async (trx, run) => {
          await step(trx, run, 1)
          throw new Error('changed its mind')
        },
      ],
    }
    test.each(Object.keys(doing))('%s', async (name) => {
      const [message, work] = doing[name] ?? []
      const run = newRun()
      await expect(em().transactional(async (trx) => await work?.(trx, run))).rejects.toThrow(message)
      expect(await stepsOf(run)).toEqual([])
      // The connection prepares what it could not before.
      await em().transactional(async (trx) => void (await lastStep(trx, run, 1)))
      expect(await stepsOf(run)).toEqual([1])
    })
  })

  test('takes nothing after its last statement', async () => {
    const run = newRun()
    await expect(
      em().transactional(async (trx) => {
        await lastStep(trx, run, 1)
        await step(trx, run, 2)
      }),
    ).rejects.toThrow('has committed')
    expect(await stepsOf(run)).toEqual([1])
  })

  test('must be there for a last statement', async () => {
    await expect(lastStep(em(), newRun(), 1)).rejects.toThrow('no transaction')
  })

  test('is there before its first statement is run: what follows a failed one is skipped', async () => {
    const run = newRun()
    const statements = [
      { text: 'select 1 / 0' },
      { name: 'skipped', text: 'insert into steps values ($1, 1)', values: [run] },
    ]
    await expect(exchange(other, statements)).rejects.toThrow('division by zero')
    expect(await stepsOf(run)).toEqual([])
    await exchange(other, statements.slice(1))
    expect(await stepsOf(run)).toEqual([1])
  })

  test('whose connection is ended anywhere writes all or nothing, and all where it says so', async () => {
    const backend = async (trx: EntityManager) =>
      (await statement<{ pid: number }>(trx, 'test-backend', 'select pg_backend_pid() as pid'))[0]?.pid
    const endFrom = {
      outside: async (trx: EntityManager) =>
        void (await other.query('select pg_terminate_backend($1, 5000)', [await backend(trx)])),
      inside: async (trx: EntityManager) =>
        void (await statement(trx, 'test-end', 'select pg_terminate_backend(pg_backend_pid())')),
      commit: async (trx: EntityManager, run: string) =>
        void (await statement(trx, 'test-end-later', 'insert into ends values (?)', [run])),
    }
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        fc.option(
          fc.record({
            how: fc.constantFrom('outside' as const, 'inside' as const, 'commit' as const),
            before: fc.integer({ min: 1, max: 5 }),
          }),
        ),
        async (length, commitsWithLast, end) => {
          const run = newRun()
          const work = em().transactional(async (trx) => {
            for (let number = 1; number <= length; number += 1) {
              if (end !== null && end.before === number) await endFrom[end.how](trx, run)
              await (commitsWithLast && number === length ? lastStep : step)(trx, run, number)
            }
            if (end !== null && end.before > length && !commitsWithLast) await endFrom[end.how](trx, run)
          })
          const isDone = await work.then(
            () => true,
            () => false,
          )
          const isEnded = end !== null && (end.before <= length || !commitsWithLast)
          expect(isDone).toBe(!isEnded)
          const all = Array.from({ length }, (_, index) => index + 1)
          expect(await stepsOf(run)).toEqual(isDone ? all : [])
        },
      ),
      { numRuns: 60 },
    )
  })

  test('whose connection breaks at its last statement throws', async () => {
    const run = newRun()
    await expect(
      em().transactional(async (trx) => {
        await step(trx, run, 1)
        toDatabase.breakAfter(0)
        await lastStep(trx, run, 2)
      }),
    ).rejects.toThrow()
    toDatabase.heal()
    expect(await stepsOf(run)).toEqual([])
  })
})
