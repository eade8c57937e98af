/** A reader by position misses no event, however the transactions that write them interleave. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
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
})
