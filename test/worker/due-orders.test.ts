/** Orders that fall due together are settled together, each exactly as its own workflow would. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createLog } from '../../config/log.ts'
import {
  lockSubscription,
  settleDueSubscriptions,
  settleSubscription,
} from '../../db/commands/settle-subscription.ts'
import { composedStatement } from '../../db/statement.ts'
import { inUnitOfWork } from '../../db/unit-of-work.ts'
import { startDueOrders } from '../../worker/due-orders.ts'
import { makeToken, TEST_CARDS } from '../rig/cards.ts'
import { type Catalogue, catalogue, orderBody } from '../rig/catalogue.ts'
import { startService, type TestService } from '../rig/service.ts'
import { waitFor } from '../rig/wait-for.ts'

/** More than are settled in one transaction. */
const MANY = 130

describe('orders that are due', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false })
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    merchant = await catalogue(service)
  })

  const em = () => service.database.orm.em.fork()
  const sql = <T extends object>(text: string, values: unknown[] = []) =>
    composedStatement<T>(em(), text, values)
  const place = async (members: object = {}): Promise<string> => {
    const { status, body } = await merchant.api.post('subscriptions', orderBody(merchant, members))
    if (status !== 201) throw new Error(JSON.stringify(body))
    return String(body.id)
  }
  const order = async (id: string) => (await merchant.api.get(`subscriptions/${id}`)).body
  const tenant = () => ({
    organizationId: merchant.organizationId,
    baseUrl: service.baseUrl,
    now: new Date(),
  })
  /** What an order shows, but for what tells one from another. */
  const shape = async (id: string) =>
    JSON.stringify(await order(id))
      .replaceAll(/\b(sub|in|item)_\w+/g, 'id')
      .replaceAll(/\d{4}-\d\d-\d\dT[^"]*Z/g, 'time')
  const eventTypesOf = async (id: string) =>
    (
      await sql<{ type: string }>(
        `select type from events where entity_id = ?
            or entity_id in (select id from invoices where subscription_id = ?) order by type`,
        [id, id],
      )
    ).map(({ type }) => type)
  const settle = (most = 100) => inUnitOfWork(em(), tenant(), (unit) => settleDueSubscriptions(unit, most))
  const dueOrders = () => startDueOrders({ em, baseUrl: service.baseUrl, now: Date.now }, createLog('silent'))

  test('all start, each once, and their invoices are issued', async () => {
    const ids = await Promise.all(Array.from({ length: MANY }, () => place()))
    const loop = dueOrders()
    try {
      await waitFor('every order to start', async () => {
        const left = await sql("select 1 from subscriptions where status = 'pending'")
        return left.length === 0 ? true : null
      })
    } finally {
      await loop.stop()
    }
    const events = await sql<{ type: string; count: number }>(
      `select type, count(*)::int as count from events
        where type in ('subscription-activated', 'invoice-issued') and organization_id = ? group by type order by type`,
      [merchant.organizationId],
    )
    expect(events).toEqual([
      { type: 'invoice-issued', count: MANY },
      { type: 'subscription-activated', count: MANY },
    ])
    const [first = ''] = ids
    expect(await order(first)).toMatchObject({ status: 'active', billingStatus: 'unpaid', revision: 2 })
    const invoices = await sql<{ subscription_id: string }>(
      "select subscription_id from invoices where organization_id = ? and status = 'unpaid'",
      [merchant.organizationId],
    )
    expect(invoices.map((row) => row.subscription_id).toSorted()).toEqual(ids.toSorted())
  })

  test('are settled no more than asked for at a time, the oldest first', async () => {
    const older = await place()
    const newer = await place()
    expect(await settle(1)).toBe(1)
    expect([(await order(older)).status, (await order(newer)).status]).toEqual(['active', 'pending'])
    expect(await settle(1)).toBe(1)
    expect(await settle(1)).toBe(0)
  })

  test('come out as when each is settled by itself', async () => {
    const customer = { paymentToken: await makeToken(merchant.api, TEST_CARDS.declines) }
    const { body: payer } = await merchant.api.post('customers', customer)
    const kinds = [
      {},
      { trial: { enabled: true, endTime: new Date(Date.now() + 86_400_000).toISOString() } },
      { customerId: payer.id, shipping: { amount: 5 } },
    ]
    const together: string[] = []
    const alone: string[] = []
    for (const kind of kinds) {
      together.push(await place(kind))
      alone.push(await place(kind))
    }
    for (const id of alone) {
      await inUnitOfWork(em(), tenant(), async (unit) => {
        const row = await lockSubscription(unit, id)
        if (row === null) throw new Error('it was placed')
        await settleSubscription(unit, row, unit.now.getTime())
      })
    }
    expect(await settle()).toBe(kinds.length)
    for (const [turn, id] of together.entries()) {
      const other = alone[turn] ?? ''
      expect(await shape(id)).toEqual(await shape(other))
      expect(await eventTypesOf(id)).toEqual(await eventTypesOf(other))
    }
    // The charge of the last kind is due, and is for its own workflow: it is not found again.
    expect((await order(together.at(-1) ?? '')).status).toBe('pending')
    expect(await settle()).toBe(0)
  })

  test('one that somebody holds, or whose clock was moved, is left to its workflow', async () => {
    const held = await place()
    const moved = await place()
    const free = await place()
    await sql('update subscriptions set clock_offset = 1000 where id = ?', [moved])
    await em().transactional(async (trx) => {
      await composedStatement(trx, 'select 1 from subscriptions where id = ? for update', [held])
      expect(await settle()).toBe(1)
    })
    const states = await Promise.all([held, moved, free].map(async (id) => (await order(id)).status))
    expect(states).toEqual(['pending', 'pending', 'active'])
  })

  test('are settled when a workflow asks for it, and one that cannot be does not hold up the others', async () => {
    const other = await catalogue(service)
    const [broken, whole] = [await place(), await other.api.post('subscriptions', orderBody(other))]
    await sql(`update subscriptions set items = '[{}]' where id = ?`, [broken])
    const loop = dueOrders()
    try {
      await loop.settled()
      const { body } = await other.api.get(`subscriptions/${whole.body.id}`)
      expect(body.status).toBe('active')
    } finally {
      await loop.stop()
      await sql('delete from subscriptions where id = ?', [broken])
    }
  })
})
