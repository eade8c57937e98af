/** A reader by position misses no event, however the transactions that write them interleave. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { migrate } from '../../db/orm.ts'
import { statement } from '../../db/statement.ts'
import { inUnitOfWork, type UnitOfWork } from '../../db/unit-of-work.ts'
import type { ApiClient } from '../support/api-client.ts'
import { create } from '../support/create.ts'
import fc from '../support/fast-check.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

interface Listed {
  readonly id: string
  readonly position: string
  readonly entityId: string
}

describe('events by position', () => {
  let service: TestService
  let merchant: { readonly organizationId: string; readonly api: ApiClient }
  let customer: Record<string, unknown>

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await service.organization()
    const other = await service.organization()
    await create(other.api, 'customers', {})
    type Created = { readonly payload: { readonly _embedded: { readonly customer: typeof customer } } }
    customer = await waitFor('the event of a customer', async () => {
      const { body } = await other.api.get<Created[]>('events?filter=eventType:customer-created')
      return body[0]?.payload._embedded.customer ?? null
    })
  })
  afterAll(() => service.stop())

  /** In two steps: it takes an id of its own; it writes its events and commits. */
  const open = (name: string) => {
    const transitions = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const identified = Promise.withResolvers<void>()
    const done = inUnitOfWork(
      service.database.orm.em.fork(),
      { organizationId: merchant.organizationId, baseUrl: service.baseUrl, now: new Date() },
      async (unit) => {
        await transitions[0]?.promise
        await statement(unit.em, 'test.identify', 'select pg_current_xact_id()')
        identified.resolve()
        await transitions[1]?.promise
        for (const part of ['a', 'b']) emit(unit, `${name}${part}`)
      },
    )
    let next = 0
    return {
      async advance(): Promise<void> {
        transitions[next]?.resolve()
        next += 1
        await (next === 1 ? identified.promise : done)
      },
    }
  }
  const emit = (unit: UnitOfWork, entityId: string) =>
    unit.emit({
      type: 'customer-created',
      time: unit.now,
      websiteId: null,
      ids: { customerId: entityId },
      embedded: { customer: { ...customer, id: entityId } },
      links: [],
    })

  /** Reads on from the last position, as docs/webhooks.md says; two at a time. */
  const poller = () => {
    const seen: Listed[] = []
    return {
      seen,
      /** A transaction of another database of the server may hold events back for a moment. */
      async pollUntil(count: number): Promise<void> {
        await waitFor(`${count} events`, async () => {
          await this.poll()
          return seen.length >= count ? true : null
        })
      },
      async poll(): Promise<void> {
        for (;;) {
          const last = seen.at(-1)
          const filter = last === undefined ? '' : `&filter=position:${last.position}..`
          const { status, body } = await merchant.api.get<Listed[]>(`events?sort=position&limit=3${filter}`)
          expect(status).toBe(200)
          const fresh = body.filter(({ id }) => id !== last?.id)
          if (fresh.length === 0) return
          seen.push(...fresh)
        }
      },
    }
  }

  test('are shown once nothing can come before them any more', async () => {
    const reader = poller()
    await reader.poll()
    const [older, newer] = [open('older'), open('newer')]
    await older.advance()
    await newer.advance()
    await newer.advance()
    await reader.poll()
    expect(reader.seen).toEqual([])
    await older.advance()
    await reader.pollUntil(4)
    expect(reader.seen.map(({ entityId }) => entityId)).toEqual(['oldera', 'olderb', 'newera', 'newerb'])
    const { body } = await merchant.api.get<Listed[]>('events?sort=-position')
    expect(body.map(({ id }) => id)).toEqual(reader.seen.map(({ id }) => id).toReversed())
  })

  test('are all read once, whatever interleaves', async () => {
    let run = 0
    const reader = poller()
    await reader.poll()
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([0, 0, 1, 1, 2, 2], { minLength: 6 }), async (order) => {
        run += 1
        const before = reader.seen.length
        const transactions = [0, 1, 2].map((index) => open(`${run}.${index}`))
        for (const index of order) {
          await transactions[index]?.advance()
          await reader.poll()
        }
        await reader.pollUntil(before + 6)
        const names = reader.seen.slice(before).map(({ entityId }) => entityId)
        expect(names.toSorted()).toEqual(
          [0, 1, 2].flatMap((index) => [`${run}.${index}a`, `${run}.${index}b`]),
        )
        const positions = reader.seen.map(({ position }) => BigInt(position))
        expect(positions).toEqual(positions.toSorted((a, b) => (a < b ? -1 : 1)))
      }),
      { numRuns: 25 },
    )
  }, 120_000)

  describe('after a restore', () => {
    const sql = <T>(text: string) => service.database.orm.em.fork().getConnection().execute<T[]>(text)
    const rearm = async (): Promise<string> => {
      const script = fileURLToPath(new URL('../../cli/rearm.ts', import.meta.url))
      const { stdout } = await promisify(execFile)(process.execPath, [script], {
        env: { PATH: process.env.PATH, DATABASE_URL: service.databaseUrl },
      })
      return stdout
    }
    const write = async (name: string) => {
      const transaction = open(name)
      await transaction.advance()
      await transaction.advance()
    }
    const readUntil = async (name: string) => {
      const reader = poller()
      await waitFor(`the event ${name}`, async () => {
        await reader.poll()
        return reader.seen.some(({ entityId }) => entityId === name) ? true : null
      })
      return reader
    }
    /** Of the events from `position` on, without that one. */
    const listedAfter = async (position: string, count: number) =>
      await waitFor(`${count} events after ${position}`, async () => {
        const path = `events?sort=position&filter=position:${position}..`
        const { body } = await merchant.api.get<Listed[]>(path)
        const found = body.filter((event) => event.position !== position)
        return found.length >= count ? found.map(({ entityId }) => entityId) : null
      })

    test.each([
      ['rearm', async () => expect(await rearm()).toMatch(/^events: new positions from \d+$/m)],
      ['migrate', () => migrate(service.databaseUrl)],
    ])(
      'of a dump from a server with more transactions all are listed, and new ones come after: npm run %s',
      async (command, advance) => {
        await write(`${command}-dumped`)
        const reader = await readUntil(`${command}-dumpedb`)
        const ahead = 5_000_000_000n
        await sql(`update events set position = position + (${ahead}::bigint << 20)`)
        const held = reader.seen.map((event) => ({
          ...event,
          position: String(BigInt(event.position) + (ahead << 20n)),
        }))
        const placed = ({ id, position }: Listed) => `${id} at ${position}`
        const hidden = await merchant.api.get<Listed[]>('events')
        expect(hidden.body).toEqual([])

        await advance()
        expect((await readUntil(`${command}-dumpedb`)).seen.map(placed)).toEqual(held.map(placed))
        await write(`${command}-restored`)
        const news = await listedAfter(held.at(-1)?.position ?? '', 2)
        expect(news).toEqual([`${command}-restoreda`, `${command}-restoredb`])
      },
    )

    test('of a database whose positions are its own, a migration leaves them', async () => {
      await rearm()
      const offset = `select value from installation where name = 'event-position-offset'`
      const before = await sql(offset)
      await write('migrated')
      await migrate(service.databaseUrl)
      expect(await sql(offset)).toEqual(before)
    })

    test('of a server set back in time new ones come after those that were lost', async () => {
      await write('kept')
      const [last] = await sql<{ position: string }>('select max(position)::text as position from events')
      // Of an event that was written, read, and lost a million transactions after the backup.
      const lost = String(BigInt(last?.position ?? '') + (1_000_000n << 20n))
      await rearm()
      await write('later')
      expect(await listedAfter(lost, 2)).toEqual(['latera', 'laterb'])
    })

    test('a transaction that began before it comes after what is listed, and none before', async () => {
      const begun = open('begun')
      await begun.advance()
      await write('before')
      await rearm()
      await write('after')
      await begun.advance()
      const reader = await readUntil('afterb')
      expect(reader.seen.map(({ entityId }) => entityId).slice(-6)).toEqual([
        'beforea',
        'beforeb',
        'beguna',
        'begunb',
        'aftera',
        'afterb',
      ])
    })

    test('it waits for a transaction that has written events and not ended', async () => {
      const writer = new pg.Client({ connectionString: service.databaseUrl })
      await writer.connect()
      try {
        await writer.query('begin; update events set revision = revision where false')
        const ended = rearm()
        await waitFor('it to wait', async () => {
          const [row] = await sql<object>(
            `select 1 from pg_locks where relation = 'events'::regclass and not granted`,
          )
          return row ?? null
        })
        await writer.query('rollback')
        expect(await ended).toContain('events: new positions from')
      } finally {
        await writer.end()
      }
    })
  })
})
