import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { makePayer } from '../support/payments.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'
import { DAY, makePlan, placeOrder, type Story } from './story.ts'

describe('changes of items on a clock that skips', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  /** A charged order of a plan for thirty days at a time, whose first period is half over. */
  const halfOver = async (price: number): Promise<Story> => {
    const { customerId } = await makePayer(merchant.api)
    const story = await placeOrder(service, merchant, await planFor(price), { customerId })
    await waitFor('its start', async () => ((await story.order()).billingStatus === 'paid' ? true : null))
    await story.skip(15 * DAY)
    return story
  }
  const planFor = (price: number) =>
    makePlan(merchant, {
      pricing: { formula: 'flat-rate', price },
      recurringInterval: { unit: 'day', length: 30 },
    })
  const changeTo = async (story: Story, price: number, members: object = {}) => {
    const response = await merchant.api.post(`subscriptions/${story.id}/change-items`, {
      items: [{ plan: { id: await planFor(price) } }],
      renewalPolicy: 'retain',
      prorated: true,
      ...members,
    })
    expect(response.status).toBe(201)
    return response.body
  }
  const amounts = async (story: Story) =>
    (await story.invoices()).map(({ type, amount, status }) => [type, Math.round(amount * 10) / 10, status])
  const charged = async (story: Story, count: number) => {
    const ledger = await waitFor('the charges', async () => {
      const found = await story.ledger()
      return found.length >= count ? found : null
    })
    return ledger.map(({ amount }) => Math.round(Number(amount) * 10) / 10)
  }

  test('an upgrade is charged at once, and the next period in full', async () => {
    const story = await halfOver(10)
    await changeTo(story, 20)
    expect(await charged(story, 2)).toEqual([10, 5])
    expect(await story.skip(16 * DAY)).toMatchObject({ status: 'active', rebillNumber: 2 })
    expect(await amounts(story)).toEqual([
      ['initial', 10, 'paid'],
      ['interim', 5, 'paid'],
      ['renewal', 20, 'paid'],
    ])
    expect(await charged(story, 3)).toEqual([10, 5, 20])
    expect(await story.events()).toEqual(
      expect.arrayContaining(['subscription-items-changed', 'subscription-upgraded']),
    )
  })

  test('a one-time sale that waits when the order is canceled is charged once the merchant invoices it', async () => {
    const story = await halfOver(10)
    const sale = { name: 'Installation', currency: 'EUR', pricing: { formula: 'fixed-fee', price: 49 } }
    const items = [{ plan: { id: await planFor(10) } }, { plan: sale }]
    await changeTo(story, 10, { items, prorated: false })
    await merchant.api.post('subscription-cancellations', { subscriptionId: story.id })
    expect(await story.order()).toMatchObject({ status: 'churned', lineItems: [{ unitPriceAmount: 49 }] })
    const invoice = () => merchant.api.post(`subscriptions/${story.id}/interim-invoice`, {})
    const made = await invoice()
    expect(made).toMatchObject({
      status: 201,
      body: { type: 'interim', amount: 49, periodStart: null, delinquencyTime: null },
    })
    expect(await charged(story, 2)).toEqual([10, 49])
    await waitFor('its payment', async () =>
      (await story.invoices()).at(-1)?.status === 'paid' ? true : null,
    )
    expect(await story.order()).toMatchObject({ status: 'churned', lineItems: [] })
    expect((await invoice()).status).toBe(409)
  })

  test('the credit of a downgrade is used up by the renewals that follow, and each is charged the rest', async () => {
    const story = await halfOver(100)
    const changed = await changeTo(story, 20)
    expect((changed.lineItemSubtotal as { amount: number }).amount).toBeCloseTo(-40, 1)
    const order = await story.skip(80 * DAY)
    expect(order).toMatchObject({ rebillNumber: 4, lineItems: [], lineItemSubtotal: { amount: 0 } })
    expect(await amounts(story)).toEqual([
      ['initial', 100, 'paid'],
      ['renewal', 0, 'paid'],
      ['renewal', 0, 'paid'],
      ['renewal', 20, 'paid'],
    ])
    const total = (await story.invoices()).reduce((sum, { amount }) => sum + amount, 0)
    expect(total).toBeCloseTo(100 - 40 + 3 * 20, 1)
  })

  test('a sale that is added while the last period is paused is charged when the order completes', async () => {
    const { customerId } = await makePayer(merchant.api)
    const recurringInterval = { unit: 'day', length: 30, limit: 1 }
    const planId = await makePlan(merchant, { recurringInterval })
    const story = await placeOrder(service, merchant, planId, { customerId })
    await waitFor('its start', async () => ((await story.order()).billingStatus === 'paid' ? true : null))
    const pause = { subscriptionId: story.id, endTime: new Date(Date.now() + 5 * DAY).toISOString() }
    expect(await merchant.api.post('subscription-pauses', pause)).toMatchObject({ status: 201 })
    const sale = { name: 'Installation', currency: 'EUR', pricing: { formula: 'fixed-fee', price: 49 } }
    const changed = await merchant.api.post(`subscriptions/${story.id}/change-items`, {
      items: [{ plan: { id: planId } }, { plan: sale }],
      renewalPolicy: 'retain',
      prorated: true,
    })
    expect(changed).toMatchObject({ status: 201, body: { lineItemSubtotal: { amount: 49 } } })
    const order = await story.skip(40 * DAY)
    expect(order).toMatchObject({ status: 'completed', lineItems: [], billingStatus: 'paid' })
    expect(await amounts(story)).toEqual([
      ['initial', 10, 'paid'],
      ['interim', 49, 'paid'],
    ])
    expect(await charged(story, 2)).toEqual([10, 49])
  })

  test('a reset begins a new period, whose length counts from then on', async () => {
    const story = await halfOver(10)
    const changed = await changeTo(story, 20, { renewalPolicy: 'reset' })
    expect(changed).toMatchObject({ rebillNumber: 2 })
    const began = Date.parse(String(changed.currentPeriodStart))
    const order = await story.skip(31 * DAY)
    expect(order).toMatchObject({ rebillNumber: 3 })
    expect(Date.parse(String(order.currentPeriodStart))).toBe(began + 30 * DAY)
    expect(await amounts(story)).toEqual([
      ['initial', 10, 'paid'],
      ['renewal', 15, 'paid'],
      ['renewal', 20, 'paid'],
    ])
  })

  test('a cancellation that ends service later credits what is unused then', async () => {
    const story = await halfOver(10)
    const now = Date.now() + Number((await story.order()).clockOffset) * 1000
    const canceled = await merchant.api.post('subscription-cancellations', {
      subscriptionId: story.id,
      churnTime: new Date(now + 6 * DAY).toISOString(),
      prorated: true,
    })
    expect(canceled.body).toMatchObject({ status: 'confirmed', lineItems: [] })
    const order = await story.skip(10 * DAY)
    expect(order).toMatchObject({ status: 'churned' })
    const { body } = await merchant.api.get(`subscription-cancellations/${canceled.body.id}`)
    expect(body).toMatchObject({
      status: 'completed',
      lineItems: [{ type: 'credit', unitPriceCurrency: 'EUR' }],
      proratedInvoiceId: order.initialInvoiceId,
    })
    const credit = (body.lineItemSubtotal as { amount: number }).amount
    expect(credit).toBeCloseTo(-3, 1)
    expect((await merchant.api.get(`customers/${order.customerId}/credit-balance`)).body).toEqual({
      balances: [{ currency: 'EUR', unallocatedAmount: -credit }],
    })
  })
})
