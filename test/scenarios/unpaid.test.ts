import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { quarantinedRecords } from '../../db/quarantine.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'
import { DAY, makePlan, placeOrder } from './story.ts'

describe('orders that nobody pays, on a clock that skips', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService()
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  test('a monthly order is renewed each month, and each period is billed once', async () => {
    const story = await placeOrder(service, merchant, await makePlan(merchant))
    expect(story.created).toMatchObject({
      status: 'pending',
      billingStatus: 'draft',
      rebillNumber: null,
    })
    const order = await story.skip(100 * DAY)
    expect(order).toMatchObject({ status: 'active', rebillNumber: 4, billingStatus: expect.any(String) })
    const invoices = await story.invoices()
    expect(invoices.map(({ periodNumber }) => periodNumber)).toEqual([1, 2, 3, 4])
    expect(invoices.map(({ amount }) => amount)).toEqual([10, 10, 10, 10])
    expect(invoices.slice(0, 3).map(({ status }) => status)).toEqual(['past-due', 'past-due', 'past-due'])
    expect(order).toMatchObject({
      initialInvoiceId: invoices[0]?.id,
      recentInvoiceId: invoices[3]?.id,
      revision: expect.any(Number),
    })
    expect((await story.events()).slice(0, 9)).toEqual([
      'subscription-created',
      'invoice-created',
      'invoice-issued',
      'subscription-activated',
      'invoice-past-due',
      'subscription-renewed',
      'invoice-created',
      'invoice-issued',
      'renewal-invoice-issued',
    ])
  })

  test('an order whose invoice is reissued until the year 9999 goes on, and is not quarantined', async () => {
    const story = await placeOrder(service, merchant, await makePlan(merchant), { delinquencyPeriod: 'P3D' })
    await story.skip(DAY / 24)
    for (const dueTime of [
      '9999-12-31T23:59:59.999Z',
      '9999-12-28T00:00:00.000Z',
      '2300-01-01T00:00:00.000Z',
    ]) {
      const reissued = await merchant.api.post(`invoices/${story.created.initialInvoiceId}/reissue`, {
        dueTime,
      })
      expect(reissued).toMatchObject({ status: 201, body: { dueTime } })
      expect(await story.skip(DAY)).toMatchObject({ status: 'active' })
    }
    const { length } = await story.invoices()
    expect(length).toBe(1)
    expect(await quarantinedRecords(service.database.orm.em.fork())).toEqual([])
  })

  test('past its delinquency time an unpaid invoice cancels the order and is abandoned', async () => {
    const story = await placeOrder(service, merchant, await makePlan(merchant), { delinquencyPeriod: 'P3D' })
    expect(await story.skip(10 * DAY)).toMatchObject({
      status: 'canceled',
      canceledBy: 'rebilly-side',
      cancelCategory: 'billing-failure',
      billingStatus: 'abandoned',
      renewalTime: null,
    })
    expect(await story.events()).toEqual([
      'subscription-created',
      'invoice-created',
      'invoice-issued',
      'subscription-activated',
      'invoice-past-due',
      'order-delinquency-reached',
      'subscription-canceled',
      'invoice-abandoned',
    ])
  })

  test('a limit ends in completed', async () => {
    const planId = await makePlan(merchant, { recurringInterval: { unit: 'week', length: 1, limit: 2 } })
    const story = await placeOrder(service, merchant, planId)
    expect(await story.skip(20 * DAY)).toMatchObject({ status: 'completed', rebillNumber: 2 })
    expect(await story.invoices()).toHaveLength(2)
    expect(await story.events()).toContain('order-completed')
  })

  test('a trial is followed by the first paid period; a trial alone by nothing', async () => {
    const trial = { price: 1, period: { unit: 'week', length: 1 } }
    const paid = await placeOrder(service, merchant, await makePlan(merchant, { trial, setup: { price: 5 } }))
    const alone = await placeOrder(
      service,
      merchant,
      await makePlan(merchant, { trial: { ...trial, price: 0 }, recurringInterval: null }),
    )
    expect(await paid.skip(2 * DAY)).toMatchObject({ status: 'active', inTrial: true, rebillNumber: 0 })
    expect(await paid.skip(8 * DAY)).toMatchObject({ status: 'active', inTrial: false, rebillNumber: 1 })
    expect((await paid.invoices()).map(({ amount }) => amount)).toEqual([6, 10])
    const told = (await paid.events()).filter((type) => /trial|renew/.test(type))
    expect(told).toEqual(['subscription-trial-ended', 'renewal-invoice-issued'])
    expect(await alone.skip(8 * DAY)).toMatchObject({ status: 'trial-ended', billingStatus: 'paid' })
    expect((await alone.events()).filter((type) => /trial|renew/.test(type))).toEqual([
      'subscription-trial-ended',
    ])
  })

  test('a one-time sale of nothing is complete at once', async () => {
    const planId = await makePlan(merchant, {
      recurringInterval: null,
      pricing: { formula: 'fixed-fee', price: 0 },
    })
    const story = await placeOrder(service, merchant, planId)
    expect(await story.skip(1000)).toMatchObject({ status: 'completed', billingStatus: 'paid' })
  })

  test('24 periods in one go', async () => {
    const story = await placeOrder(service, merchant, await makePlan(merchant))
    expect(await story.skip(745 * DAY)).toMatchObject({ status: 'active', rebillNumber: 25 })
    const numbers = (await story.invoices()).map(({ periodNumber }) => periodNumber)
    expect(numbers).toEqual(Array.from({ length: 25 }, (_, index) => index + 1))
  })
})
