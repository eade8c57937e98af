import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createLog } from '../../config/log.ts'
import type { Attempt, DueDelivery } from '../../delivery/attempt.ts'
import { cancelUnsendable } from '../../delivery/cancel-unsendable.ts'
import {
  findWaitingWebhooks,
  readRetry,
  recordOutcomes,
  releaseDeliveries,
  takeDueDeliveries,
} from '../../delivery/queue.ts'
import { startSweep, wakeLateRecords } from '../../worker/sweep.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const HOUR = 3_600_000
const REFUSING = 'http://127.0.0.1:1/'

describe('the queue of first attempts', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false })
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    await sql('delete from deliveries')
    await sql('delete from wake_ups')
    merchant = await catalogue(service, { webhook: REFUSING })
    await sql('delete from deliveries')
  })

  const em = () => service.database.orm.em.fork()
  const sql = <T>(text: string, values: unknown[] = []) => em().getConnection().execute<T[]>(text, values)
  const customers = async (count: number) => {
    for (let made = 0; made < count; made += 1) await merchant.api.post('customers', { firstName: `${made}` })
  }
  /** With the ids `<id>1`, `<id>2` and so on. */
  const copy = (table: string, id: string, count: number, { columns }: { columns: string }) =>
    sql(`insert into ${table}
      select (jsonb_populate_record(copied, jsonb_build_object('id', copied.id || number, ${columns}))).*
        from ${table} copied, generate_series(1, ${count}) number where copied.id = '${id}'`)
  const all = { owner: 'wrk_1', shares: [], others: { total: 100, each: 100 } }
  const attempt = (delivery: DueDelivery, failure: 'status' | null): Attempt => ({
    delivery,
    initiatedTime: new Date(),
    sentTime: new Date(),
    duration: 5,
    requestHeaders: { 'Webhook-Id': delivery.eventId },
    response: { status: failure === null ? 200 : 500, headers: {}, body: 'nul \u0000 byte', failure },
  })

  test('hands out each delivery once, in event order, and again only when its lease has run out', async () => {
    await customers(5)
    const taken = await takeDueDeliveries(em(), all)
    expect(taken.map(({ payload }) => JSON.parse(payload)._embedded.customer.firstName)).toEqual([
      '0',
      '1',
      '2',
      '3',
      '4',
    ])
    expect(await takeDueDeliveries(em(), all)).toEqual([])
    await sql("update deliveries set lease_until = now() - interval '1 second'")
    expect(await takeDueDeliveries(em(), all)).toHaveLength(5)
  })

  test('hands out the very first delivery of a webhook that was inactive before', async () => {
    await sql('alter sequence deliveries_position_seq restart')
    const url = { url: 'http://127.0.0.1:1/' }
    for (const status of ['inactive', 'active']) {
      expect((await merchant.api.put(`webhooks/${merchant.webhookId}`, { ...url, status })).status).toBe(200)
    }
    await customers(1)
    expect(await takeDueDeliveries(em(), all)).toHaveLength(1)
  })

  test('hands no delivery to two dispatchers that ask at once', async () => {
    await customers(20)
    const hands = await Promise.all(
      Array.from({ length: 8 }, () => takeDueDeliveries(em(), { ...all, others: { total: 5, each: 100 } })),
    )
    const ids = hands.flat().map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('takes of a webhook its share, nothing where that is none, and of the others up to their limit', async () => {
    await merchant.api.post('webhooks', { url: 'http://127.0.0.1:2/' })
    await merchant.api.post('webhooks', { url: 'http://127.0.0.1:3/' })
    await customers(4)
    const first = { organizationId: merchant.organizationId, webhookId: String(merchant.webhookId) }
    const takenFrom = async (count: number, others: { total: number; each: number }) => {
      const taken = await takeDueDeliveries(em(), { ...all, shares: [{ ...first, count }], others })
      return [1, 2, 3].map((port) => taken.filter(({ url }) => url.endsWith(`:${port}/`)).length)
    }
    expect(await takenFrom(0, { total: 0, each: 9 })).toEqual([0, 0, 0])
    expect(await takenFrom(1, { total: 2, each: 1 })).toEqual([1, 1, 1])
    const [ofFirst, ...ofOthers] = await takenFrom(9, { total: 4, each: 9 })
    expect(ofFirst).toBe(3)
    expect(ofOthers.reduce((sum, count) => sum + count)).toBe(4)
  })

  test('finds every webhook that has something to take', async () => {
    await merchant.api.post('webhooks', { url: 'http://127.0.0.1:2/' })
    expect(await findWaitingWebhooks(em())).toEqual([])
    await customers(1)
    expect((await findWaitingWebhooks(em())).map(({ url }) => url).toSorted()).toEqual([
      'http://127.0.0.1:1/',
      'http://127.0.0.1:2/',
    ])
    await takeDueDeliveries(em(), all)
    expect(await findWaitingWebhooks(em())).toEqual([])
  })

  test('what was asked for comes ahead of what waits', async () => {
    await customers(2)
    const [first] = await takeDueDeliveries(em(), all)
    if (first === undefined) throw new Error('nothing was taken')
    await recordOutcomes(em(), [{ attempt: attempt(first, null), next: null }], 'wrk_1')
    await customers(1)
    await sql('update deliveries set resend_due = true where id = ?', [first.id])
    const [taken] = await takeDueDeliveries(em(), { ...all, others: { total: 1, each: 1 } })
    expect(taken).toMatchObject({ id: first.id, resend: true })
  })

  test('an outcome of a process whose delivery another has taken changes nothing; where none has, it counts', async () => {
    await customers(2)
    const before = await takeDueDeliveries(em(), all)
    const [lost, kept] = before
    if (lost === undefined || kept === undefined) throw new Error('too few were taken')
    await sql('update deliveries set lease_owner = null, lease_until = null')
    await takeDueDeliveries(em(), { ...all, owner: 'wrk_2', others: { total: 1, each: 1 } })
    const moved = await recordOutcomes(
      em(),
      before.map((delivery) => ({ attempt: attempt(delivery, 'status'), next: Date.now() + 1_800_000 })),
      'wrk_1',
    )
    expect(moved.map(({ id }) => id)).toEqual([kept.id])
    await releaseDeliveries(em(), [lost], 'wrk_1')
    expect(await sql('select status, attempts, lease_owner from deliveries where id = ?', [lost.id])).toEqual(
      [{ status: 'waiting', attempts: 0, lease_owner: 'wrk_2' }],
    )
    expect(await recordOutcomes(em(), [{ attempt: attempt(lost, null), next: null }], 'wrk_2')).toHaveLength(
      1,
    )
    const numbers = 'select attempt from delivery_attempts where delivery_id = ?'
    expect(await sql(numbers, [lost.id])).toEqual([{ attempt: 1 }])
  })

  test('a resend and a retry that end at the same time are both recorded, under numbers of their own', async () => {
    await customers(1)
    const [first] = await takeDueDeliveries(em(), all)
    if (first === undefined) throw new Error('nothing was taken')
    const next = Date.now() + 1_800_000
    await recordOutcomes(em(), [{ attempt: attempt(first, 'status'), next }], 'wrk_1')
    await sql('update deliveries set resend_due = true')
    const [resend] = await takeDueDeliveries(em(), all)
    const retry = await readRetry(em(), first.organizationId, first.id)
    if (resend === undefined || retry === null) throw new Error('nothing is due')
    const retried = { attempt: attempt(retry, 'status'), next }
    const resent = { attempt: attempt(resend, 'status'), next }
    expect(await recordOutcomes(em(), [retried], null)).toHaveLength(1)
    expect(await recordOutcomes(em(), [resent], 'wrk_1')).toHaveLength(1)
    expect(await recordOutcomes(em(), [retried], null)).toEqual([])
    expect(await recordOutcomes(em(), [resent], 'wrk_1')).toEqual([])
    expect(await sql('select status, attempts, resends, lease_owner from deliveries')).toEqual([
      { status: 'retrying', attempts: 2, resends: 1, lease_owner: null },
    ])
    const numbers = 'select attempt from delivery_attempts where delivery_id = ? order by attempt'
    expect(await sql(numbers, [first.id])).toEqual([{ attempt: 1 }, { attempt: 2 }, { attempt: 3 }])
  })

  test.each([null, 'status'] as const)(
    'a retry that ends with %p after a resend has delivered the event is logged, and changes no more',
    async (failure) => {
      await customers(1)
      const [first] = await takeDueDeliveries(em(), all)
      if (first === undefined) throw new Error('nothing was taken')
      const next = Date.now() + 1_800_000
      await recordOutcomes(em(), [{ attempt: attempt(first, 'status'), next }], 'wrk_1')
      await sql('delete from wake_ups')
      await sql('update deliveries set resend_due = true')
      const retry = await readRetry(em(), first.organizationId, first.id)
      const [resend] = await takeDueDeliveries(em(), all)
      if (resend === undefined || retry === null) throw new Error('nothing is due')
      await recordOutcomes(em(), [{ attempt: attempt(resend, null), next: null }], 'wrk_1')
      const ended = await sql('select ended_time from deliveries')
      const retried = { attempt: attempt(retry, failure), next: failure === null ? null : next }
      expect(await recordOutcomes(em(), [retried], null)).toMatchObject([{ status: 'delivered' }])
      expect(await recordOutcomes(em(), [retried], null)).toEqual([])
      expect(await sql('select status, attempts, resends, next_attempt_time from deliveries')).toEqual([
        { status: 'delivered', attempts: 2, resends: 1, next_attempt_time: null },
      ])
      expect(await sql('select ended_time from deliveries')).toEqual(ended)
      expect(
        await sql('select attempt, failure from delivery_attempts where delivery_id = ? order by attempt', [
          first.id,
        ]),
      ).toEqual([
        { attempt: 1, failure: 'status' },
        { attempt: 2, failure: null },
        { attempt: 3, failure },
      ])
      expect(await sql('select 1 from wake_ups')).toEqual([])
    },
  )

  const resendUnderWay = async () => {
    await customers(1)
    const [first] = await takeDueDeliveries(em(), all)
    if (first === undefined) throw new Error('nothing was taken')
    await recordOutcomes(em(), [{ attempt: attempt(first, 'status'), next: null }], 'wrk_1')
    await sql('update deliveries set resend_due = true')
    const [resend] = await takeDueDeliveries(em(), all)
    if (resend === undefined) throw new Error('nothing is due')
    return { first, resend }
  }
  const goAway = {
    inactive: () => merchant.api.put(`webhooks/${merchant.webhookId}`, { url: REFUSING, status: 'inactive' }),
    deleted: () => merchant.api.send('DELETE', `webhooks/${merchant.webhookId}`),
    'replaced by another': async () => {
      await merchant.api.send('DELETE', `webhooks/${merchant.webhookId}`)
      await merchant.api.put(`webhooks/${merchant.webhookId}`, { url: REFUSING })
    },
  }
  test.each(
    Object.entries(goAway).flatMap(([what, away]) =>
      ([null, 'status'] as const).map((failure) => ({ what, away, failure })),
    ),
  )(
    'a resend under way when its webhook is $what is recorded as it ends, with $failure',
    async ({ away, failure }) => {
      const { first, resend } = await resendUnderWay()
      await away()
      await cancelUnsendable(em())
      const resent = { attempt: attempt(resend, failure), next: null }
      expect(await recordOutcomes(em(), [resent], 'wrk_1')).toHaveLength(1)
      expect(await recordOutcomes(em(), [resent], 'wrk_1')).toEqual([])
      expect(
        await sql('select status, attempts, resends, resend_due from deliveries where id = ?', [first.id]),
      ).toEqual([
        {
          status: failure === null ? 'delivered' : 'exhausted',
          attempts: 1,
          resends: 1,
          resend_due: false,
        },
      ])
      const log = 'select attempt, failure from delivery_attempts where delivery_id = ? order by attempt'
      expect(await sql(log, [first.id])).toEqual([
        { attempt: 1, failure: 'status' },
        { attempt: 2, failure },
      ])
    },
  )

  test.each(['ends after', 'dies before'] as const)(
    'a resend requested after a cancellation is made, also if one that was under way then %s it',
    async (what) => {
      const { first, resend } = await resendUnderWay()
      await goAway.inactive()
      await cancelUnsendable(em())
      await merchant.api.put(`webhooks/${merchant.webhookId}`, { url: REFUSING, status: 'active' })
      const [{ id } = { id: '' }] = await sql<{ id: string }>(
        'select id from delivery_attempts where delivery_id = ?',
        [first.id],
      )
      expect((await merchant.api.send('POST', `tracking/webhooks/${id}/resend`)).status).toBe(204)
      const take = async () => (await takeDueDeliveries(em(), all)).find((taken) => taken.id === first.id)
      expect(await take()).toBeUndefined()
      const underWay = { attempt: attempt(resend, 'status'), next: null }
      if (what === 'ends after') expect(await recordOutcomes(em(), [underWay], 'wrk_1')).toHaveLength(1)
      else await sql(`update deliveries set lease_until = now() - interval '1 second'`)
      const again = await take()
      if (again === undefined) throw new Error('what was requested is not due')
      expect(
        await recordOutcomes(em(), [{ attempt: attempt(again, null), next: null }], 'wrk_1'),
      ).toHaveLength(1)
      expect(
        await sql('select status, resends, resend_due from deliveries where id = ?', [first.id]),
      ).toEqual([{ status: 'delivered', resends: what === 'ends after' ? 2 : 1, resend_due: false }])
    },
  )

  test('a resend that is reported again is not taken for the one requested since', async () => {
    await customers(1)
    const [first] = await takeDueDeliveries(em(), all)
    if (first === undefined) throw new Error('nothing was taken')
    await recordOutcomes(em(), [{ attempt: attempt(first, null), next: null }], 'wrk_1')
    await sql('update deliveries set resend_due = true')
    const [resend] = await takeDueDeliveries(em(), all)
    if (resend === undefined) throw new Error('nothing is due')
    const resent = { attempt: attempt(resend, null), next: null }
    expect(await recordOutcomes(em(), [resent], 'wrk_1')).toHaveLength(1)
    await sql('update deliveries set resend_due = true')
    expect(await recordOutcomes(em(), [resent], 'wrk_1')).toEqual([])
    const [again] = await takeDueDeliveries(em(), all)
    if (again === undefined) throw new Error('the second resend is not due')
    expect(await recordOutcomes(em(), [{ attempt: attempt(again, null), next: null }], 'wrk_1')).toHaveLength(
      1,
    )
    expect(await sql('select attempts, resends, resend_due from deliveries')).toEqual([
      { attempts: 1, resends: 2, resend_due: false },
    ])
  })

  test('a resend that is requested while another is under way follows it, however often it is requested', async () => {
    await customers(1)
    const [first] = await takeDueDeliveries(em(), all)
    if (first === undefined) throw new Error('nothing was taken')
    await recordOutcomes(em(), [{ attempt: attempt(first, 'status'), next: null }], 'wrk_1')
    const [{ id } = { id: '' }] = await sql<{ id: string }>(
      'select id from delivery_attempts where delivery_id = ?',
      [first.id],
    )
    const since = new Date(Date.now() - HOUR).toISOString()
    const resend = async () => {
      expect((await merchant.api.send('POST', `tracking/webhooks/${id}/resend`)).status).toBe(204)
      return 1
    }
    const recover = async () => {
      const { body } = await merchant.api.post(`webhooks/${merchant.webhookId}/recover`, { since })
      return body.deliveries
    }
    await resend()
    for (const request of [resend, recover]) {
      const [underWay] = await takeDueDeliveries(em(), all)
      if (underWay === undefined) throw new Error('nothing is due')
      expect(await request()).toBe(1)
      await request()
      const outcome = { attempt: attempt(underWay, 'status'), next: null }
      expect(await recordOutcomes(em(), [outcome], 'wrk_1')).toHaveLength(1)
      expect(await recordOutcomes(em(), [outcome], 'wrk_1')).toEqual([])
    }
    // What has not begun is the attempt that is requested, also if it was taken and released before.
    expect(await recover()).toBe(0)
    await resend()
    const taken = await takeDueDeliveries(em(), all)
    await resend()
    await releaseDeliveries(em(), taken, 'wrk_1')
    const [last] = await takeDueDeliveries(em(), all)
    if (last === undefined) throw new Error('nothing is due')
    expect(await recordOutcomes(em(), [{ attempt: attempt(last, null), next: null }], 'wrk_1')).toHaveLength(
      1,
    )
    expect(await takeDueDeliveries(em(), all)).toEqual([])
    expect(await sql('select status, attempts, resends, resend_due, resend_again from deliveries')).toEqual([
      { status: 'delivered', attempts: 1, resends: 3, resend_due: false, resend_again: false },
    ])
  })

  test('a success is recorded once, however often it is reported, and wakes nobody', async () => {
    await customers(1)
    const [delivery] = await takeDueDeliveries(em(), all)
    if (delivery === undefined) throw new Error('nothing was taken')
    const outcome = { attempt: attempt(delivery, null), next: null }
    expect(await recordOutcomes(em(), [outcome], 'wrk_1')).toHaveLength(1)
    expect(await recordOutcomes(em(), [outcome], 'wrk_1')).toEqual([])
    expect(await sql('select status, attempts, lease_until from deliveries')).toEqual([
      { status: 'delivered', attempts: 1, lease_until: null },
    ])
    expect(
      await sql('select attempt, status, failure, response from delivery_attempts where delivery_id = ?', [
        delivery.id,
      ]),
    ).toEqual([{ attempt: 1, status: 200, failure: null, response: 'nul \uFFFD byte' }])
    expect(await sql('select * from wake_ups')).toEqual([])
  })

  test('a first failure commits outcome, next time and wake-up together', async () => {
    await customers(1)
    const [delivery] = await takeDueDeliveries(em(), all)
    if (delivery === undefined) throw new Error('nothing was taken')
    const next = Date.now() + 1_800_000
    await recordOutcomes(em(), [{ attempt: attempt(delivery, 'status'), next }], 'wrk_1')
    const [row] = await sql<{ status: string; next_attempt_time: string }>(
      'select status, next_attempt_time from deliveries',
    )
    expect(row?.status).toBe('retrying')
    expect(Date.parse(row?.next_attempt_time ?? '')).toBe(next)
    const wakeUps = await sql<{ due_by: string }>('select * from wake_ups')
    expect(wakeUps).toMatchObject([
      {
        workflow: 'webhook-delivery',
        record_id: delivery.id,
        starts: true,
        attributes: { status: 'retrying', webhookId: delivery.webhookId },
      },
    ])
    expect(Date.parse(wakeUps[0]?.due_by ?? '')).toBe(next)
    expect(await takeDueDeliveries(em(), all)).toEqual([])
  })

  test('the sweep wakes what is five seconds late, once, and nothing else', async () => {
    await customers(3)
    const taken = await takeDueDeliveries(em(), all)
    const ages = [3, 8, -600]
    const outcomes = taken.map((delivery, index) => ({
      attempt: attempt(delivery, 'status'),
      next: Date.now() - (ages[index] ?? 0) * 1_000,
    }))
    await recordOutcomes(em(), outcomes, 'wrk_1')
    await sql('delete from wake_ups')
    expect((await wakeLateRecords(em(), null)).woken).toEqual([{ workflow: 'webhook-delivery', number: 1 }])
    expect((await wakeLateRecords(em(), null)).woken).toEqual([])
    expect(await sql('select record_id from wake_ups')).toEqual([{ record_id: taken[1]?.id }])
  })

  test.each([
    { overdue: 4.5, before: 1, woken: 0 },
    { overdue: 5.5, before: 1, woken: 1 },
    { overdue: 9, before: 1, woken: 0 },
    { overdue: 10.5, before: 1, woken: 1 },
    { overdue: 19, before: 1, woken: 0 },
    { overdue: 20.5, before: 1, woken: 1 },
    { overdue: 39, before: 1, woken: 0 },
    { overdue: 40.5, before: 1, woken: 1 },
    { overdue: 39, before: null, woken: 1 },
  ])(
    'what is $overdue s late, with a sweep $before s ago, is woken $woken times: at 5, 10, 20, 40 seconds',
    async ({ overdue, before, woken }) => {
      await customers(1)
      const [delivery] = await takeDueDeliveries(em(), all)
      if (delivery === undefined) throw new Error('nothing was taken')
      const late = { attempt: attempt(delivery, 'status'), next: Date.now() - overdue * 1_000 }
      await recordOutcomes(em(), [late], 'wrk_1')
      await sql('delete from wake_ups')
      const earlier = before === null ? null : new Date(Date.now() - before * 1_000)
      expect((await wakeLateRecords(em(), earlier)).woken).toHaveLength(woken)
    },
  )

  test('any number of records that are late still hides no other', async () => {
    await customers(1)
    const [delivery] = await takeDueDeliveries(em(), all)
    if (delivery === undefined) throw new Error('nothing was taken')
    await recordOutcomes(em(), [{ attempt: attempt(delivery, 'status'), next: Date.now() - 5_500 }], 'wrk_1')
    await copy('deliveries', delivery.id, 1_000, {
      columns: "'position', copied.position + number, 'next_attempt_time', now() - interval '3 minutes'",
    })
    await sql('delete from wake_ups')
    const earlier = new Date(Date.now() - 1_000)
    expect((await wakeLateRecords(em(), earlier)).woken).toEqual([
      { workflow: 'webhook-delivery', number: 1 },
    ])
    expect(await sql('select record_id from wake_ups')).toEqual([{ record_id: delivery.id }])
  })

  test('however many records were late at the first sweep, each is woken by it', async () => {
    await customers(1)
    const [delivery] = await takeDueDeliveries(em(), all)
    if (delivery === undefined) throw new Error('nothing was taken')
    const next = Date.now() - 3_600_000
    await recordOutcomes(em(), [{ attempt: attempt(delivery, 'status'), next }], 'wrk_1')
    await copy('deliveries', delivery.id, 1_199, { columns: "'position', copied.position + number" })
    await sql('delete from wake_ups')
    let counted = 0
    const sweep = startSweep({
      em,
      orders: { advanceDue: async () => ({ count: 0, isMore: false }) },
      late: {
        inc: (_, count) => {
          counted += count
        },
      },
      log: createLog('silent'),
    })
    try {
      await waitFor('1,200 to be woken', async () => (counted >= 1_200 ? true : null), 15_000)
    } finally {
      await sweep.stop()
    }
    expect(
      await sql('select count(*)::int as woken, count(distinct record_id)::int as records from wake_ups'),
    ).toEqual([{ woken: 1_200, records: 1_200 }])
  })

  test('orders that the sweep advances itself hide none whose charge is late', async () => {
    const { id } = await create(merchant.api, 'subscriptions', orderBody(merchant))
    await sql(
      `update subscriptions set next_due_kind = 'charge', next_deadline = now() - interval '1 minute'`,
    )
    await copy('subscriptions', String(id), 600, {
      columns: `'next_due_kind', null, 'next_deadline', now() - interval '1 hour'`,
    })
    await sql('delete from wake_ups')
    expect((await wakeLateRecords(em(), null)).woken).toEqual([{ workflow: 'subscription', number: 1 }])
    await sql('delete from subscriptions')
  })

  test('what was quarantined is woken five seconds after the end of that, however late it is', async () => {
    await customers(1)
    const [delivery] = await takeDueDeliveries(em(), all)
    if (delivery === undefined) throw new Error('nothing was taken')
    const next = Date.now() - 3 * 60_000
    await recordOutcomes(em(), [{ attempt: attempt(delivery, 'status'), next }], 'wrk_1')
    await sql('delete from wake_ups')
    const woken = async (seconds: number) => {
      await sql(`update deliveries set quarantined_until = now() - interval '${seconds} seconds'`)
      return (await wakeLateRecords(em(), new Date(Date.now() - 1_000))).woken.length
    }
    expect([await woken(4.5), await woken(30), await woken(5.5)]).toEqual([0, 0, 1])
  })
})
