/** Rules of time whose rows are also read, written and shown: the rules alone are tested in test/billing. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { TEST_CARDS } from '../support/cards.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { makePayer } from '../support/payments.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'
import { DAY, makePlan, placeOrder, type Story } from './story.ts'

describe('orders on a clock that skips', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const until = (story: Story, status: string) =>
    waitFor('the order', async () => {
      const order = await story.order()
      return order.status === status ? order : null
    })
  const begun = async (plan: object = {}, members: object = {}): Promise<Story> => {
    const { customerId } = await makePayer(merchant.api, TEST_CARDS.approves)
    const story = await placeOrder(service, merchant, await makePlan(merchant, plan), {
      customerId,
      ...members,
    })
    await until(story, 'active')
    return story
  }
  const periodsOf = async (story: Story) => {
    const path = `invoices?filter=subscriptionId:${story.id}&sort=id&limit=1000`
    const { body } = await merchant.api.get<Record<string, unknown>[]>(path)
    return body.map(({ periodStart, periodEnd }) => [periodStart, periodEnd])
  }

  test('after a pause the paid invoice of the paused period shows its new end', async () => {
    const story = await begun()
    await story.skip(40 * DAY)
    expect((await merchant.api.post('subscription-pauses', { subscriptionId: story.id })).status).toBe(201)
    await story.skip(20 * DAY)
    const [pause] = (
      await merchant.api.get<{ id: string }[]>(`subscription-pauses?filter=subscriptionId:${story.id}`)
    ).body
    await merchant.api.delete(`subscription-pauses/${pause?.id}`)
    const { renewalTime } = await story.order()
    await story.skip(30 * DAY)
    const [first, second, third] = await periodsOf(story)
    expect(second).toEqual([first?.[1], renewalTime])
    expect(third?.[0]).toBe(renewalTime)
  })

  test('an expired card is a decline with its events, its instrument expired, and a new default is charged at once', async () => {
    const { customerId, paymentInstrumentId } = await makePayer(merchant.api, TEST_CARDS.approves)
    const execute = (text: string, values: unknown[]) =>
      service.database.orm.em.fork().getConnection().execute<{ type: string }[]>(text, values)
    await execute('update payment_instruments set exp_year = 2020 where id = ?', [paymentInstrumentId])
    const story = await placeOrder(service, merchant, await makePlan(merchant), { customerId })
    const path = `transactions?filter=customerId:${customerId};result:declined`
    const sale = await waitFor(
      'the decline',
      async () => (await merchant.api.get<Record<string, unknown>[]>(path)).body[0] ?? null,
    )
    expect(sale).toMatchObject({ amount: 10, paymentInstruction: { paymentInstrumentId } })
    expect(await story.ledger()).toEqual([])
    expect(await story.order()).toMatchObject({ status: 'pending', billingStatus: 'unpaid' })
    const instrument = await merchant.api.get(`payment-instruments/${paymentInstrumentId}`)
    expect(instrument.body).toMatchObject({ status: 'expired', revision: 2 })
    const told = await execute(
      "select type from events where payload::jsonb ->> 'paymentCardId' = ? or payload::jsonb ->> 'transactionId' = ? order by id",
      [paymentInstrumentId, sale.id],
    )
    expect(told.map(({ type }) => type)).toEqual([
      'payment-card-created',
      'payment-card-expired',
      'transaction-declined',
    ])
    const [open] = await story.invoices()
    expect(open).toMatchObject({ status: 'unpaid', autopayScheduledTime: expect.any(String) })
    // Not at the next retry, which is a day ahead.
    const changed = await merchant.api.put(`customers/${customerId}`, {
      paymentToken: await makeToken(merchant.api, TEST_CARDS.approvesToo),
    })
    expect(changed.status).toBe(200)
    expect(await until(story, 'active')).toMatchObject({ billingStatus: 'paid' })
    expect(await story.ledger()).toMatchObject([{ requestId: `${story.id}.1.2`, result: 'approved' }])
  })

  test('a card that has expired by the clock of one order only is charged for a sale of today', async () => {
    const { customerId, paymentInstrumentId } = await makePayer(merchant.api, TEST_CARDS.approves)
    const connection = service.database.orm.em.fork().getConnection()
    const lastMonth = new Date(Date.now() + 31 * DAY)
    await connection.execute('update payment_instruments set exp_year = ?, exp_month = ? where id = ?', [
      lastMonth.getUTCFullYear(),
      lastMonth.getUTCMonth() + 1,
      paymentInstrumentId,
    ])
    const story = await placeOrder(service, merchant, await makePlan(merchant), { customerId })
    await until(story, 'active')
    await story.forwardTo(Date.now() + 100 * DAY)
    const instrument = await merchant.api.get(`payment-instruments/${paymentInstrumentId}`)
    expect(instrument.body).toMatchObject({ status: 'expired' })
    const sale = await merchant.api.post('transactions', {
      type: 'sale',
      customerId,
      currency: 'EUR',
      amount: 1,
      paymentInstruction: { paymentInstrumentId },
    })
    expect(sale).toMatchObject({ status: 201, body: { result: 'approved' } })
  })

  test('a card that has expired is charged at once when its new expiry is entered', async () => {
    const { customerId, paymentInstrumentId } = await makePayer(merchant.api, TEST_CARDS.approves)
    const connection = service.database.orm.em.fork().getConnection()
    await connection.execute('update payment_instruments set exp_year = 2020 where id = ?', [
      paymentInstrumentId,
    ])
    const story = await placeOrder(service, merchant, await makePlan(merchant), { customerId })
    const path = `transactions?filter=customerId:${customerId};result:declined`
    await waitFor('the decline', async () => (await merchant.api.get<object[]>(path)).body[0] ?? null)
    const renewed = await merchant.api.send('PATCH', `payment-instruments/${paymentInstrumentId}`, {
      body: JSON.stringify({ expYear: 2088 }),
      headers: { 'Content-Type': 'application/json' },
    })
    expect({ status: renewed.status, body: renewed.body }).toMatchObject({
      status: 200,
      body: { status: 'active' },
    })
    expect(await until(story, 'active')).toMatchObject({ billingStatus: 'paid' })
    expect(await story.ledger()).toMatchObject([{ requestId: `${story.id}.1.2`, result: 'approved' }])
  })

  test('reminders are shown, sent and counted as the settings of the organization say', async () => {
    const settings = (renewal: string[]) =>
      merchant.api.put('', { name: 'Merchant', settings: { billing: { reminders: { renewal } } } })
    expect((await settings(['P3D', 'PT1H'])).status).toBe(200)
    const story = await begun()
    const order = await story.order()
    const renewal = Date.parse(String(order.renewalTime))
    const ahead = (milliseconds: number) => new Date(renewal - milliseconds).toISOString()
    expect(order).toMatchObject({
      renewalReminderTime: ahead(3 * DAY),
      renewalReminderNumber: null,
      trialReminderTime: null,
      abandonReminderTime: null,
    })
    const reminded = await story.forwardTo(renewal - DAY)
    expect(reminded).toMatchObject({ renewalReminderTime: ahead(3_600_000), renewalReminderNumber: 1 })
    expect(await story.forwardTo(renewal + DAY)).toMatchObject({
      rebillNumber: 2,
      renewalReminderNumber: null,
    })
    const told = (await story.events()).filter((type) => type.endsWith('-reminder'))
    expect(told).toEqual(['subscription-renewal-reminder', 'subscription-renewal-reminder'])
    await settings([])
  })

  test('a postpaid order with a day of the month is shown, billed and charged at the end of each period', async () => {
    const recurringInterval = {
      unit: 'month',
      length: 1,
      limit: null,
      billingTiming: 'postpaid',
      periodAnchorInstruction: { method: 'day-of-month', day: 31 },
    }
    const planId = await makePlan(merchant, { recurringInterval, setup: { price: 5 } })
    expect((await merchant.api.get(`plans/${planId}`)).body).toMatchObject({ recurringInterval })
    const story = await begun({ recurringInterval, setup: { price: 5 } })
    const { renewalTime } = await story.order()
    expect((await merchant.api.get(`subscriptions/${story.id}/upcoming-invoice`)).body).toMatchObject({
      amount: 10,
      issuedTime: renewalTime,
    })
    const order = await story.forwardTo(Date.parse(String(renewalTime)) + DAY)
    expect(order).toMatchObject({ rebillNumber: 2, billingStatus: 'paid' })
    const invoices = await story.invoices()
    expect(
      invoices.map(({ amount, status, type, periodNumber }) => [amount, status, type, periodNumber]),
    ).toEqual([
      [5, 'paid', 'initial', null],
      [10, 'paid', 'renewal', 1],
    ])
    expect(await periodsOf(story)).toEqual([
      [null, null],
      [order.startTime, renewalTime],
    ])
    await merchant.api.post('subscription-cancellations', { subscriptionId: story.id })
    expect(await story.order()).toMatchObject({ status: 'churned' })
    expect((await story.invoices()).at(-1)).toMatchObject({ amount: 10, type: 'renewal', periodNumber: 2 })
  })

  test.each([
    ['day 0', { unit: 'month', periodAnchorInstruction: { method: 'day-of-month', day: 0 } }],
    ['day 32', { unit: 'month', periodAnchorInstruction: { method: 'day-of-month', day: 32 } }],
    ['no day', { unit: 'month', periodAnchorInstruction: { method: 'day-of-month' } }],
    [
      'a day that is none',
      { unit: 'week', periodAnchorInstruction: { method: 'day-of-week', day: 'Someday' } },
    ],
  ])('a plan with %s is refused: 422', async (_, interval) => {
    const plan = { name: 'Plan', currency: 'EUR', pricing: { formula: 'flat-rate', price: 10 } }
    const response = await merchant.api.post('plans', {
      ...plan,
      recurringInterval: { length: 1, ...interval },
    })
    expectProblem(response, 422, 'validation-error')
  })

  test('negative shifts of issue and due time are refused on plans and orders: 422', async () => {
    for (const shift of ['issueTimeShift', 'dueTimeShift']) {
      const invoiceTimeShift = { [shift]: { duration: -1, unit: 'day' } }
      const plan = {
        name: 'Plan',
        currency: 'EUR',
        pricing: { formula: 'flat-rate', price: 10 },
        invoiceTimeShift,
      }
      expectProblem(await merchant.api.post('plans', plan), 422, 'validation-error')
      const order = orderBody(merchant, { invoiceTimeShift })
      expectProblem(await merchant.api.post('subscriptions', order), 422, 'validation-error')
    }
  })

  test('the first invoice of a pending order is voided with its order only', async () => {
    const { customerId } = await makePayer(merchant.api, TEST_CARDS.declines)
    const story = await placeOrder(service, merchant, await makePlan(merchant), { customerId })
    const order = await waitFor('the decline', async () => {
      const now = await story.order()
      return now.billingStatus === 'unpaid' ? now : null
    })
    const path = `invoices/${order.initialInvoiceId}/void`
    expectProblem(await merchant.api.post(path, {}), 409, 'conflict')
    expect((await merchant.api.post(`subscriptions/${story.id}/void`, {})).status).toBe(201)
    expect(await story.order()).toMatchObject({ status: 'voided', billingStatus: 'voided' })
  })
})
