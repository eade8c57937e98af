import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'
import { DAY, makePlan, placeOrder } from './story.ts'

describe('orders that callers act on, on a clock that skips', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService()
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const begun = async (members: object = {}) => {
    const story = await placeOrder(service, merchant, await makePlan(merchant), members)
    await waitFor('the order to begin', async () => ((await story.order()).status === 'active' ? true : null))
    return story
  }
  const later = (days: number) => new Date(Date.now() + days * DAY).toISOString()

  test('a pause across a boundary moves it by the time paused', async () => {
    const story = await begun()
    const before = Date.parse(String((await story.order()).renewalTime))
    const pause = { subscriptionId: story.id, effectiveTime: later(20), endTime: later(40) }
    expect((await merchant.api.post('subscription-pauses', pause)).status).toBe(201)
    expect(await story.skip(35 * DAY)).toMatchObject({ status: 'paused', renewalTime: null, rebillNumber: 1 })
    const resumed = await story.skip(7 * DAY)
    expect(resumed).toMatchObject({ status: 'active', rebillNumber: 1 })
    expect(Date.parse(String(resumed.renewalTime))).toBe(before + 20 * DAY)
    expect(await story.events()).toEqual(
      expect.arrayContaining(['subscription-pause-created', 'subscription-paused', 'subscription-resumed']),
    )
  })

  test('a cancellation at a churn time is served and billed until then, and billed no more after it', async () => {
    const story = await begun()
    const { renewalTime } = await story.order()
    const churnTime = later(45)
    await merchant.api.post('subscription-cancellations', { subscriptionId: story.id, churnTime })
    expect(await story.order()).toMatchObject({ status: 'canceled', renewalTime })
    const served = await story.skip(40 * DAY)
    expect(served).toMatchObject({ status: 'canceled', rebillNumber: 2, renewalTime: null })
    expect(await story.skip(10 * DAY)).toMatchObject({ status: 'churned', churnTime, rebillNumber: 2 })
    expect(await story.forwardTo(Date.now() + 120 * DAY)).toMatchObject({ status: 'churned' })
    expect(await story.invoices()).toHaveLength(2)
    const told = (await story.events()).filter((type) => /canceled|churned|renew/.test(type))
    expect(told).toEqual([
      'subscription-canceled',
      'subscription-renewed',
      'renewal-invoice-issued',
      'subscription-churned',
    ])
  })

  const time = (value: unknown) => Date.parse(String(value))
  const cancel = async (subscriptionId: string, churnTime?: unknown) => {
    const response = await merchant.api.post('subscription-cancellations', {
      subscriptionId,
      ...(churnTime === undefined ? {} : { churnTime }),
    })
    expect(response.status).toBe(201)
  }

  test('a pause without end lasts until it is ended: nothing is billed, then the next boundary lies as far off as before', async () => {
    const story = await begun()
    const before = time((await story.order()).renewalTime)
    const pause = await merchant.api.post('subscription-pauses', { subscriptionId: story.id })
    const { effectiveTime } = pause.body
    expect(await story.forwardTo(Date.now() + 200 * DAY)).toMatchObject({
      status: 'paused',
      renewalTime: null,
    })
    expect(await story.invoices()).toHaveLength(1)
    expect((await merchant.api.delete(`subscription-pauses/${pause.body.id}`)).status).toBe(204)
    const resumed = await story.order()
    expect(resumed).toMatchObject({ status: 'active', rebillNumber: 1 })
    const { body: ended } = await merchant.api.get(`subscription-pauses/${pause.body.id}`)
    const paused = time(ended.endTime) - time(effectiveTime)
    expect(paused).toBeGreaterThan(199 * DAY)
    expect(time(resumed.renewalTime)).toBe(before + paused)
    expect(await story.forwardTo(before + paused + 3_600_000)).toMatchObject({ rebillNumber: 2 })
  })

  test('a cancellation at once ends service, and nothing is billed any more', async () => {
    const story = await begun()
    await cancel(story.id)
    expect(await story.order()).toMatchObject({ status: 'churned', renewalTime: null })
    expect(await story.forwardTo(Date.now() + 100 * DAY)).toMatchObject({ status: 'churned' })
    expect(await story.invoices()).toHaveLength(1)
    const ends = (await story.events()).filter((type) => /canceled|churned|renew/.test(type))
    expect(ends).toEqual(['subscription-canceled', 'subscription-churned'])
  })

  test('a cancellation at the end of the period serves it to its last instant and bills no other', async () => {
    const story = await begun()
    const { renewalTime } = await story.order()
    await cancel(story.id, renewalTime)
    expect(await story.forwardTo(time(renewalTime) - 1_000)).toMatchObject({ status: 'canceled' })
    const churned = await story.forwardTo(time(renewalTime) + 3_600_000)
    expect(churned).toMatchObject({ status: 'churned', churnTime: renewalTime, rebillNumber: 1 })
    expect(await story.invoices()).toHaveLength(1)
  })

  test('a cancellation undone before its churn time leaves everything as if it had not been', async () => {
    const story = await begun()
    const { renewalTime } = await story.order()
    await cancel(story.id, renewalTime)
    await story.forwardTo(time(renewalTime) - DAY)
    const undone = await merchant.api.post('subscription-reactivations', { subscriptionId: story.id })
    expect(undone.status).toBe(201)
    expect(await story.order()).toMatchObject({ status: 'active', renewalTime, churnTime: null })
    expect(await story.forwardTo(time(renewalTime) + 3_600_000)).toMatchObject({
      status: 'active',
      rebillNumber: 2,
    })
    expect((await story.invoices())[1]).toMatchObject({ periodNumber: 2, periodStart: renewalTime })
  })

  test('reactivated after its churn: a new anchor from then on, and a renewal invoice', async () => {
    const story = await begun()
    await cancel(story.id)
    const { clockOffset } = await story.forwardTo(Date.now() + 50 * DAY)
    expect((await merchant.api.post('subscription-reactivations', { subscriptionId: story.id })).status).toBe(
      201,
    )
    const order = await story.order()
    expect(order).toMatchObject({ status: 'active', rebillNumber: 2 })
    const [, renewal] = await story.invoices()
    const anchor = time(renewal?.periodStart)
    expect(Math.abs(anchor - (Date.now() + Number(clockOffset) * 1_000))).toBeLessThan(10_000)
    expect(time(order.renewalTime)).toBeGreaterThan(anchor + 27 * DAY)
    expect(await story.forwardTo(time(order.renewalTime) + 3_600_000)).toMatchObject({ rebillNumber: 3 })
    expect((await story.events()).filter((type) => type === 'subscription-reactivated')).toHaveLength(1)
  })

  test('an outage of an hour in the middle leaves the record that an hour of work would have left', async () => {
    const planId = await makePlan(merchant, { recurringInterval: { unit: 'day', length: 1 } })
    const place = async () => {
      const story = await placeOrder(service, merchant, planId)
      await waitFor('its start', async () => ((await story.order()).status === 'active' ? true : null))
      return story
    }
    const [out, twin] = [await place(), await place()]
    const renewal = time((await out.order()).renewalTime)
    await out.forwardTo(renewal - 60_000)
    await service.stopWorker()
    // The hour passes on the order's own clock, with nobody there to see it.
    await service.database.orm.em
      .fork()
      .getConnection()
      .execute('update subscriptions set clock_offset = clock_offset + 3600000 where id = ?', [out.id])
    expect((await out.order()).rebillNumber).toBe(1)
    service.startWorker()
    const order = await waitFor('the renewal', async () => {
      const now = await out.order()
      return now.rebillNumber === 2 ? now : null
    })
    const undisturbed = await twin.forwardTo(time((await twin.order()).renewalTime) + 3_540_000)
    expect(time(order.renewalTime)).toBe(renewal + DAY)
    expect(order).toMatchObject({ status: undisturbed.status, billingStatus: undisturbed.billingStatus })
    const record = async (story: typeof out) => {
      const start = time((await story.order()).startTime)
      const { body } = await merchant.api.get<Record<string, unknown>[]>(
        `invoices?filter=subscriptionId:${story.id}&sort=issuedTime`,
      )
      return body.map(({ status, amount, periodNumber, periodStart, issuedTime, dueTime }) => ({
        status,
        amount,
        periodNumber,
        times: [periodStart, issuedTime, dueTime].map((one) => Math.round((time(one) - start) / 60_000)),
      }))
    }
    expect(await record(out)).toEqual(await record(twin))
    expect(await out.events()).toEqual(await twin.events())
  })
})
