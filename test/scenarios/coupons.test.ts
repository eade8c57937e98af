import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { makePayer } from '../support/payments.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'
import { DAY, makePlan, placeOrder } from './story.ts'

describe('coupons over time', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService()
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  test('discount three renewals, which are charged so, and none once they have expired', async () => {
    const { api } = merchant
    const planId = await makePlan(merchant)
    const { customerId } = await makePayer(api)
    const expiredTime = new Date(Date.now() + 100 * DAY).toISOString()
    const { id: couponId } = await create(api, 'coupons', {
      discount: { type: 'percent', value: 25 },
      description: 'Spring',
      expiredTime,
    })
    const story = await placeOrder(service, merchant, planId, { customerId, couponIds: [couponId] })
    await waitFor('its start', async () => ((await story.order()).status === 'active' ? true : null))
    const month = 31 * DAY
    await story.forwardTo(Date.now() + 3 * month + DAY)
    const order = await story.forwardTo(Date.now() + 5 * month)
    expect(order).toMatchObject({ status: 'active', mrr: 10 })
    const invoices = await story.invoices()
    expect(invoices.slice(0, 5).map(({ amount, status }) => [amount, status])).toEqual([
      [7.5, 'paid'],
      [7.5, 'paid'],
      [7.5, 'paid'],
      [7.5, 'paid'],
      [10, 'paid'],
    ])
    expect((await story.ledger()).slice(0, 5).map(({ amount }) => Number(amount))).toEqual([
      7.5, 7.5, 7.5, 7.5, 10,
    ])
    const { body } = await api.get<Record<string, unknown>[]>(`invoices?filter=id:${invoices[3]?.id}`)
    expect(body[0]).toMatchObject({
      subtotalAmount: 10,
      discountAmount: 2.5,
      discounts: [{ couponId, amount: 2.5, description: 'Spring', context: 'items' }],
    })
    expect((await api.get(`subscriptions/${story.id}/upcoming-invoice`)).body).toMatchObject({
      amount: 10,
      discounts: [],
    })
    // The coupon itself lives by real time: its execution waits for its expiry.
    expect((await api.get(`coupons/${couponId}`)).body).toMatchObject({
      status: 'issued',
      redemptionsCount: 1,
    })
    const execution = await waitFor('the execution of the coupon', () =>
      service.temporal.workflow
        .getHandle(`coupon/${merchant.organizationId}/${couponId}`)
        .describe()
        .catch(() => null),
    )
    expect(execution.status.name).toBe('RUNNING')
  })

  test('expire by their workflow', async () => {
    const { api } = merchant
    const { id } = await create(api, 'coupons', {
      discount: { type: 'fixed', amount: 1, currency: 'EUR' },
      issuedTime: new Date(Date.now() + 1_000).toISOString(),
      expiredTime: new Date(Date.now() + 2_000).toISOString(),
    })
    await waitFor('its expiry', async () =>
      (await api.get(`coupons/${id}`)).body.status === 'expired' ? true : null,
    )
    const events = await service.database.orm.em
      .fork()
      .getConnection()
      .execute<{ type: string }[]>('select type from events where entity_id = ? order by position', [id])
    expect(events.map(({ type }) => type)).toEqual(['coupon-issued', 'coupon-expired'])
  })
})
