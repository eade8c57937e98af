/** One function advances orders, whoever calls it: a fired timer, a command or the sweep. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createOrderAdvancer, type OrderAdvancer } from '../../activities/advance-order.ts'
import { createQuarantine } from '../../activities/quarantine.ts'
import { advanceOrder, lockSubscription } from '../../commands/orders/advance-order.ts'
import { loadOrders } from '../../commands/orders/load-order.ts'
import { createLog } from '../../config/log.ts'
import { ClockSkewError } from '../../db/clock-agreement.ts'
import { Invoice, Subscription } from '../../db/entities/index.ts'
import { quarantinedRecords, releaseRecord } from '../../db/quarantine.ts'
import { composedStatement } from '../../db/statement.ts'
import { inUnitOfWork } from '../../db/unit-of-work.ts'
import { startSweep } from '../../worker/sweep.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'

/** More than are advanced in one transaction. */
const MANY = 130
const DAY = 86_400_000

describe('orders that are due', () => {
  let service: TestService
  let merchant: Catalogue
  let orders: OrderAdvancer
  let quarantines: string[]

  beforeAll(async () => {
    service = await startService({ worker: false })
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    merchant = await catalogue(service)
    quarantines = []
    orders = advancer()
  })

  const em = () => service.database.orm.em.fork()
  const sql = <T extends object>(text: string, values: unknown[] = []) =>
    composedStatement<T>(em(), text, values)
  const advancer = (options: Partial<Parameters<typeof createOrderAdvancer>[0]> = {}): OrderAdvancer =>
    createOrderAdvancer({
      em,
      baseUrl: service.baseUrl,
      now: Date.now,
      skipsTime: true,
      clock: { requireAgreement() {} },
      quarantine: createQuarantine({
        em,
        log: createLog('silent'),
        now: Date.now,
        counter: { inc: ({ workflow }) => void quarantines.push(workflow) },
      }),
      ...options,
    })
  const place = async (members: object = {}, of: Catalogue = merchant): Promise<string> => {
    const { status, body } = await of.api.post('subscriptions', orderBody(of, members))
    if (status !== 201) throw new Error(JSON.stringify(body))
    return String(body.id)
  }
  const order = async (id: string, of: Catalogue = merchant) => (await of.api.get(`subscriptions/${id}`)).body
  const input = (id: string, { ahead = 0, of = merchant } = {}) => ({
    organizationId: of.organizationId,
    recordId: id,
    clock: Date.now() + ahead,
    base: null,
  })
  const poison = (id: string) => sql(`update subscriptions set items = '[{}]' where id = ?`, [id])
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

  test('all start when the timer of one of them fires, each once, and their invoices are issued', async () => {
    const ids = await Promise.all(Array.from({ length: MANY }, () => place()))
    await orders.advance(input(ids[0] ?? ''))
    await waitFor('every order to start', async () => {
      const left = await sql("select 1 from subscriptions where organization_id = ? and status = 'pending'", [
        merchant.organizationId,
      ])
      return left.length === 0 ? true : null
    })
    const events = await sql<{ type: string; count: number }>(
      `select type, count(*)::int as count from events
        where type in ('subscription-activated', 'invoice-issued') and organization_id = ? group by type order by type`,
      [merchant.organizationId],
    )
    expect(events).toEqual([
      { type: 'invoice-issued', count: MANY },
      { type: 'subscription-activated', count: MANY },
    ])
    expect(await order(ids[0] ?? '')).toMatchObject({
      status: 'active',
      billingStatus: 'unpaid',
      revision: 2,
    })
  })

  test('are advanced no further than the batch in hand once the worker is to stop; one whose timer fires still is', async () => {
    const ids = await Promise.all(Array.from({ length: MANY + 100 }, () => place()))
    const pending = async () =>
      (
        await sql<{ id: string }>(
          "select id from subscriptions where organization_id = ? and status = 'pending'",
          [merchant.organizationId],
        )
      ).map(({ id }) => id)
    const first = orders.advanceDue(merchant.organizationId)
    // The next batch, for which the sweep waits.
    const second = orders.advanceDue(merchant.organizationId)
    await orders.stop()
    expect(await first).toEqual({ count: 100, isMore: true })
    expect(await second).toEqual({ count: 0, isMore: true })
    expect(await orders.advanceDue(merchant.organizationId)).toEqual({ count: 0, isMore: true })
    const left = await pending()
    expect(left).toHaveLength(ids.length - 100)
    await orders.advance(input(left[0] ?? ''))
    expect(await order(left[0] ?? '')).toMatchObject({ status: 'active' })
    // The others of that batch, of which none follows.
    await orders.stop()
    expect(await pending()).toHaveLength(ids.length - 200)
  })

  test('those of other organizations are left to their own timers', async () => {
    const other = await catalogue(service)
    const theirs = await place({}, other)
    await orders.advance(input(await place()))
    expect((await order(theirs, other)).status).toBe('pending')
  })

  test('what is due is decided by the instant of the workflow, and for the others never ahead of the database', async () => {
    const startTime = new Date(Date.now() + DAY).toISOString()
    const [skipping, other] = [await place({ startTime }), await place({ startTime })]
    // An execution that skips time leads; it moves no other order.
    await orders.advance(input(skipping, { ahead: 2 * DAY }))
    expect((await order(skipping)).status).toBe('active')
    expect((await order(other)).status).toBe('pending')
    // If executions do not skip time, an instant ahead of real time is a wrong clock.
    const ahead = input(other, { ahead: 2 * DAY })
    const { next } = await advancer({ skipsTime: false }).advance(ahead)
    expect((await order(other)).status).toBe('pending')
    expect(next).toBeGreaterThan(ahead.clock)
  })

  test.each([
    ['slightly', 550],
    ['by a minute', 60_000],
  ])("a wait lasts until its deadline in real time, where Temporal's clock is ahead %s", async (_, lead) => {
    const start = Date.now() + 4_000
    const id = await place({ startTime: new Date(start).toISOString() })
    await delay(start - 500 - Date.now())
    const early = input(id, { ahead: lead })
    const { next } = await advancer({ skipsTime: false }).advance(early)
    expect(Number(next) - early.clock).toBeGreaterThanOrEqual(start - Date.now())
  })

  test('are not reminded of by a reminder whose time had passed when the order first saw it configured', async () => {
    const begun = async () => {
      const id = await place()
      // Its invoice becomes past due; then it sleeps until its renewal.
      for (const ahead of [0, 2 * DAY]) await orders.advance(input(id, { ahead }))
      return { id, renewal: Date.parse(String((await order(id)).renewalTime)) }
    }
    const [asleep, changed] = [await begun(), await begun()]
    const settings = { billing: { reminders: { renewal: ['P7D'] } } }
    expect((await merchant.api.put('', { name: 'Merchant', settings })).status).toBe(200)
    const remindersAt = async (id: string, instant: number) => {
      await orders.advance(input(id, { ahead: instant - Date.now() }))
      return await sql<{ event_time: string }>(
        `select event_time from events where entity_id = ? and type = 'subscription-renewal-reminder'`,
        [id],
      )
    }
    expect(await remindersAt(asleep.id, asleep.renewal)).toEqual([])
    const { renewalTime, rebillNumber } = await order(asleep.id)
    expect(rebillNumber).toBe(2)
    // However late this one is: the renewal has scheduled it.
    const next = Date.parse(String(renewalTime))
    expect(await remindersAt(asleep.id, next - DAY)).toHaveLength(1)
    const path = `subscriptions/${changed.id}`
    expect((await merchant.api.put(path, { ...(await order(changed.id)), notes: 'A' })).status).toBe(200)
    const [reminded, ...others] = await remindersAt(changed.id, changed.renewal - DAY)
    expect(new Date(reminded?.event_time ?? 0).getTime()).toBe(changed.renewal - 7 * DAY)
    expect(others).toEqual([])
  })

  test('come out as when each is advanced by itself', async () => {
    const customer = { paymentToken: await makeToken(merchant.api, TEST_CARDS.declines) }
    const { body: payer } = await merchant.api.post('customers', customer)
    const kinds = [
      {},
      { trial: { enabled: true, endTime: new Date(Date.now() + DAY).toISOString() } },
      { customerId: payer.id, shipping: { amount: 5 } },
    ]
    const together: string[] = []
    const alone: string[] = []
    const tenant = { organizationId: merchant.organizationId, baseUrl: service.baseUrl }
    for (const kind of kinds) {
      const id = await place(kind)
      alone.push(id)
      await inUnitOfWork(em(), { ...tenant, now: new Date() }, async (unit) => {
        const row = await lockSubscription(unit, id)
        if (row === null) throw new Error('it was placed')
        await advanceOrder(unit, row, unit.now.getTime())
      })
    }
    for (const kind of kinds) together.push(await place(kind))
    await orders.advanceDue(merchant.organizationId)
    for (const [index, id] of together.entries()) {
      const other = alone[index] ?? ''
      expect(await shape(id)).toEqual(await shape(other))
      expect(await eventTypesOf(id)).toEqual(await eventTypesOf(other))
    }
    // The charge of the last kind is due, and is for its own workflow.
    const charged = together.at(-1) ?? ''
    expect((await order(charged)).status).toBe('pending')
    expect((await orders.advance(input(charged))).gatewayCallDue).toBe(true)
  })

  test('are read with the invoices of their own current period, whatever period the others of the batch are in', async () => {
    const [old, young] = [await place(), await place()]
    await orders.advanceDue(merchant.organizationId)
    await sql(
      `insert into invoices select (jsonb_populate_record(invoice, jsonb_build_object(
           'id', 'in_earlier_' || period, 'sequence', period, 'invoice_number', null,
           'type', 'renewal', 'status', 'paid', 'period_number', period))).*
         from invoices invoice, generate_series(2, 51) period where subscription_id = ? and sequence = 1`,
      [old],
    )
    await sql('update subscriptions set rebill_number = 51 where id = ?', [old])
    const tenant = { organizationId: merchant.organizationId, baseUrl: service.baseUrl, now: new Date() }
    const read = await inUnitOfWork(em(), tenant, async (unit) => {
      const rows = await unit.em.find(Subscription, { id: { $in: [old, young] } })
      await loadOrders(unit, rows, unit.now.getTime())
      return unit.em.getUnitOfWork().getIdentityMap().getStore(unit.em.getMetadata(Invoice)).size
    })
    // Of each order the initial one, and that of the current period.
    expect(read).toBe(3)
  })

  test('one that somebody holds is waited for by its own workflow only', async () => {
    const held = await place()
    const free = await place()
    let result: Promise<unknown> = Promise.resolve()
    await em().transactional(async (trx) => {
      await composedStatement(trx, 'select 1 from subscriptions where id = ? for update', [held])
      result = orders.advance(input(held))
      await waitFor('the other order', async () => ((await order(free)).status === 'active' ? true : null))
      expect((await order(held)).status).toBe('pending')
    })
    await result
    expect((await order(held)).status).toBe('active')
  })

  test('one whose clock was moved is in no batch', async () => {
    const moved = await place()
    await sql('update subscriptions set clock_offset = 1000 where id = ?', [moved])
    await orders.advance(input(await place()))
    expect((await order(moved)).status).toBe('pending')
    await orders.advance(input(moved))
    expect((await order(moved)).status).toBe('active')
  })

  test('one that throws is quarantined by itself, and the others of its batch go on', async () => {
    const broken = await place()
    const others = await Promise.all(Array.from({ length: 5 }, () => place()))
    await poison(broken)
    const result = await orders.advance(input(broken))
    expect(result.next).toBeGreaterThan(Date.now() + 30_000)
    expect(result.visibility?.attributes.BillingStatus).toBe('quarantined')
    for (const id of others) expect((await order(id)).status).toBe('active')
    const [record, ...rest] = (await quarantinedRecords(em())).filter(
      ({ organizationId }) => organizationId === merchant.organizationId,
    )
    expect(record).toMatchObject({ workflow: 'subscription', recordId: broken, count: 1 })
    expect(record?.reason).toMatch(/TypeError/)
    expect(rest).toEqual([])
    expect(quarantines).toEqual(['subscription'])

    const later = await place()
    await orders.advanceDue(merchant.organizationId)
    expect((await order(later)).status).toBe('active')
    expect(quarantines).toHaveLength(1)

    await sql(
      'update subscriptions set items = (select items from subscriptions where id = ?) where id = ?',
      [later, broken],
    )
    expect(
      await releaseRecord(em(), 'subscription', {
        organizationId: merchant.organizationId,
        recordId: broken,
      }),
    ).toBe(true)
    await orders.advance(input(broken))
    expect((await order(broken)).status).toBe('active')
    const [row] = await sql(
      'select quarantine_count as count, quarantine_reason as reason, quarantined_until as until from subscriptions where id = ?',
      [broken],
    )
    expect(row).toEqual({ count: 0, reason: null, until: null })
  })

  test('one that fails only when it is written is found by halves, and the others go on', async () => {
    const ids = await Promise.all(Array.from({ length: 9 }, () => place()))
    const broken = ids[4] ?? ''
    await sql(`create function refuse_order() returns trigger language plpgsql as $$
      begin if new.id = '${broken}' and new.status = 'active' then raise exception 'refused' using errcode = '22000'; end if;
      return new; end $$`)
    await sql(
      'create trigger refuse before update on subscriptions for each row execute function refuse_order()',
    )
    try {
      await orders.advance(input(ids[0] ?? ''))
    } finally {
      await sql('drop trigger refuse on subscriptions')
      await sql('drop function refuse_order')
    }
    for (const id of ids) expect((await order(id)).status).toBe(id === broken ? 'pending' : 'active')
    expect(quarantines).toEqual(['subscription'])
    await sql('delete from subscriptions where id = ?', [broken])
  })

  test('a quarantine lasts twice as long each time, and an hour at most', async () => {
    const broken = await place()
    await poison(broken)
    const waits: number[] = []
    for (let failures = 0; failures < 8; failures += 1) {
      const asked = Date.now()
      const { next } = await orders.advance(input(broken))
      waits.push(Math.round(((next ?? 0) - asked) / 60_000))
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
    await sql('delete from subscriptions where id = ?', [broken])
  })

  test('while the clocks differ, nothing is advanced and nobody is quarantined', async () => {
    const id = await place()
    const skewed = advancer({
      clock: {
        requireAgreement() {
          throw new ClockSkewError('5000 ms ahead')
        },
      },
    })
    await expect(skewed.advance(input(id))).rejects.toThrow(ClockSkewError)
    expect((await order(id)).status).toBe('pending')
    expect(quarantines).toEqual([])
  })

  test('the sweep takes a batch of an organization at a time, however many more are due', async () => {
    await Promise.all(Array.from({ length: MANY }, () => place()))
    const first = await orders.advanceDue(merchant.organizationId)
    expect(first).toEqual({ count: 100, isMore: true })
    let batches = 0
    const turns: number[] = []
    const sweep = startSweep({
      em,
      orders: {
        // As an organization whose orders become due as fast as they are advanced.
        async advanceDue() {
          batches += 1
          return { count: 100, isMore: true }
        },
      },
      late: { inc: (_, count) => void turns.push(count) },
      log: createLog('silent'),
    })
    try {
      await sql(
        "update subscriptions set next_deadline = now() - interval '6 seconds' where organization_id = ?",
        [merchant.organizationId],
      )
      await waitFor('several iterations', async () => (turns.length > 3 ? true : null))
    } finally {
      await sweep.stop()
      await orders.advanceDue(merchant.organizationId)
    }
    expect(batches).toBeGreaterThan(3)
  })

  test('are swept also while the timers of many organizations fire without a pause', async () => {
    const late = await place()
    const busy = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const of = await catalogue(service)
        return { of, id: await place({}, of) }
      }),
    )
    let [isOver, fired] = [false, 0]
    const timers = busy.map(async ({ of, id }) => {
      while (!isOver) {
        await sql('update subscriptions set next_deadline = now() where organization_id = ?', [
          of.organizationId,
        ])
        await orders.advance(input(id, { of }))
        fired += 1
      }
    })
    try {
      await waitFor('the timers', () => (fired > 30 ? true : null))
      const swept = orders.advanceDue(merchant.organizationId).then(() => true)
      const many = fired + 300
      const starved = waitFor('many more', () => (fired > many ? false : null))
      expect(await Promise.race([swept, starved])).toBe(true)
    } finally {
      isOver = true
      await Promise.all(timers)
    }
    expect((await order(late)).status).toBe('active')
  })

  test('are swept also while expired cards cannot be erased', async () => {
    const late = await place()
    await sql("update subscriptions set next_deadline = now() - interval '6 seconds' where id = ?", [late])
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
    const isLocked = Promise.withResolvers<void>()
    const holding = em().transactional(async (trx) => {
      await trx.execute('lock table payment_tokens in access exclusive mode')
      isLocked.resolve()
      await mayEnd
    })
    await isLocked.promise
    const sweep = startSweep({ em, orders, late: { inc() {} }, log: createLog('silent') })
    try {
      const status = () => sql<{ status: string }>('select status from subscriptions where id = ?', [late])
      await waitFor('the late order', async () => ((await status())[0]?.status === 'active' ? true : null))
    } finally {
      end()
      await holding
      await sweep.stop()
    }
  })

  test('five seconds late, they are advanced by the sweep, and counted', async () => {
    const [late, recent] = [await place(), await place()]
    await sql(
      "update subscriptions set start_time = now() - interval '1 minute', next_deadline = now() - interval '6 seconds' where id = ?",
      [late],
    )
    const other = await catalogue(service)
    const theirs = await place({}, other)
    await sql("update subscriptions set next_deadline = now() - interval '2 seconds' where id in (?, ?)", [
      recent,
      theirs,
    ])
    const counted: [string, number][] = []
    const sweep = startSweep({
      em,
      orders,
      late: { inc: ({ workflow }, count) => void counted.push([workflow, count]) },
      log: createLog('silent'),
    })
    try {
      await waitFor('the late order', async () => ((await order(late)).status === 'active' ? true : null))
      // One that is not late yet is its timer's, unless its organization is being swept anyway.
      expect((await order(theirs, other)).status).toBe('pending')
      await waitFor('the count', async () => (counted.length > 0 ? true : null))
    } finally {
      await sweep.stop()
      await sql('delete from subscriptions where id = ?', [theirs])
    }
    expect(counted[0]?.[0]).toBe('subscription')
  })
})
