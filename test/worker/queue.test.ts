import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Attempt, DueDelivery } from '../../delivery/attempt.ts'
import { recordOutcomes, takeDueDeliveries } from '../../delivery/queue.ts'
import { sweep } from '../../worker/sweep.ts'
import { type Catalogue, catalogue } from '../rig/catalogue.ts'
import { startService, type TestService } from '../rig/service.ts'

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
    merchant = await catalogue(service, { webhook: 'http://127.0.0.1:1/' })
    await sql('delete from deliveries')
  })

  const em = () => service.database.orm.em.fork()
  const sql = <T>(text: string, values: unknown[] = []) => em().getConnection().execute<T[]>(text, values)
  const customers = async (count: number) => {
    for (let made = 0; made < count; made += 1) await merchant.api.post('customers', { firstName: `${made}` })
  }
  const all = { limit: 100, perWebhook: 100, restricted: [] }
  const attempt = (delivery: DueDelivery, failure: 'status' | null): Attempt => ({
    delivery,
    number: delivery.attempts + 1,
    initiatedTime: new Date(),
    sentTime: new Date(),
    duration: 5,
    requestHeaders: { 'Webhook-Id': delivery.eventId },
    answer: { status: failure === null ? 200 : 500, headers: {}, body: 'nul \u0000 byte', failure },
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

  test('hands no delivery to two dispatchers that ask at once', async () => {
    await customers(20)
    const hands = await Promise.all(
      Array.from({ length: 8 }, () => takeDueDeliveries(em(), { ...all, limit: 5 })),
    )
    const ids = hands.flat().map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('takes no more of a webhook than its allowance, and serves the others meanwhile', async () => {
    await merchant.api.post('webhooks', { url: 'http://127.0.0.1:2/' })
    await customers(4)
    const restricted = [
      { organizationId: merchant.organizationId, webhookId: String(merchant.webhookId), allowance: 1 },
    ]
    const taken = await takeDueDeliveries(em(), { ...all, restricted })
    expect(taken.filter(({ url }) => url.endsWith(':1/'))).toHaveLength(1)
    expect(taken.filter(({ url }) => url.endsWith(':2/'))).toHaveLength(4)
  })

  test('a limit is shared fairly over webhooks', async () => {
    await merchant.api.post('webhooks', { url: 'http://127.0.0.1:2/' })
    await customers(6)
    const taken = await takeDueDeliveries(em(), { ...all, limit: 6 })
    expect(taken.filter(({ url }) => url.endsWith(':1/'))).toHaveLength(3)
  })

  test('a success is recorded once, however often it is reported, and wakes nobody', async () => {
    await customers(1)
    const [delivery] = await takeDueDeliveries(em(), all)
    if (delivery === undefined) throw new Error('nothing was taken')
    const outcome = { attempt: attempt(delivery, null), next: null }
    expect(await recordOutcomes(em(), [outcome])).toHaveLength(1)
    expect(await recordOutcomes(em(), [outcome])).toEqual([])
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
    await recordOutcomes(em(), [{ attempt: attempt(delivery, 'status'), next }])
    const [row] = await sql<{ status: string; next_attempt_time: string }>(
      'select status, next_attempt_time from deliveries',
    )
    expect(row?.status).toBe('retrying')
    expect(Date.parse(row?.next_attempt_time ?? '')).toBe(next)
    expect(await sql('select workflow, record_id from wake_ups')).toEqual([
      { workflow: 'webhook-delivery', record_id: delivery.id },
    ])
    expect(await takeDueDeliveries(em(), all)).toEqual([])
  })

  test('the sweep wakes what is overdue by a minute on its own clock, once, and nothing else', async () => {
    await customers(3)
    const taken = await takeDueDeliveries(em(), all)
    const ages = [-30, 90, -600]
    const outcomes = taken.map((delivery, index) => ({
      attempt: attempt(delivery, 'status'),
      next: Date.now() - (ages[index] ?? 0) * 1_000,
    }))
    await recordOutcomes(em(), outcomes)
    await sql('delete from wake_ups')
    expect((await sweep(em(), null)).woken).toBe(1)
    expect((await sweep(em(), null)).woken).toBe(0)
    expect(await sql('select record_id from wake_ups')).toEqual([{ record_id: taken[1]?.id }])
  })

  test.each([
    { overdue: 50, before: 60, woken: 0 },
    { overdue: 70, before: 60, woken: 1 },
    { overdue: 115, before: 50, woken: 0 },
    { overdue: 130, before: 60, woken: 1 },
    { overdue: 200, before: 60, woken: 0 },
    { overdue: 250, before: 60, woken: 1 },
    { overdue: 470, before: 60, woken: 0 },
    { overdue: 500, before: 60, woken: 1 },
    { overdue: 470, before: null, woken: 1 },
  ])(
    'what nobody saw to for $overdue s, with a sweep $before s ago, is woken $woken times: at 1, 2, 4, 8 minutes',
    async ({ overdue, before, woken }) => {
      await customers(1)
      const [delivery] = await takeDueDeliveries(em(), all)
      if (delivery === undefined) throw new Error('nothing was taken')
      await recordOutcomes(em(), [
        { attempt: attempt(delivery, 'status'), next: Date.now() - overdue * 1_000 },
      ])
      await sql('delete from wake_ups')
      const earlier = before === null ? null : new Date(Date.now() - before * 1_000)
      expect((await sweep(em(), earlier)).woken).toBe(woken)
    },
  )
})
