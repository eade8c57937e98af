import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { TEST_CARDS } from '../support/cards.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { makePayer } from '../support/payments.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'
import { DAY, makePlan, placeOrder, type Story } from './story.ts'

const HOUR = 3_600_000
const WEEK_FREE = { price: 0, period: { unit: 'week', length: 1 } }
const WEEK_PAID = { price: 1, period: { unit: 'week', length: 1 } }

describe('orders that are charged, on a clock that skips', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const charged = async (pan: string, plan: object = {}, members: object = {}): Promise<Story> =>
    placeOrder(service, merchant, await makePlan(merchant, plan), {
      customerId: (await makePayer(merchant.api, pan)).customerId,
      ...members,
    })
  const until = (story: Story, holds: (order: Record<string, unknown>) => boolean) =>
    waitFor('the order', async () => {
      const order = await story.order()
      return holds(order) ? order : null
    })
  const active = (story: Story) => until(story, ({ status }) => status === 'active')
  const unpaid = (story: Story) => until(story, ({ billingStatus }) => billingStatus === 'unpaid')
  /** Before its decline is recorded, it is issued and unpaid too, and another card would pay at once. */
  const declined = async (story: Story) => {
    const path = `transactions?filter=customerId:${story.created.customerId};result:declined`
    await waitFor('the decline', async () =>
      (await merchant.api.get<unknown[]>(path)).body.length > 0 ? true : null,
    )
    return await unpaid(story)
  }
  const time = (value: unknown): number => Date.parse(String(value))
  const giveCard = async (story: Story, pan: string) => {
    const { customerId } = story.created
    const changed = await merchant.api.put(`customers/${customerId}`, {
      paymentToken: await makeToken(merchant.api, pan),
    })
    expect(changed.status).toBe(200)
  }
  const details = async ({ id }: Story) => {
    const execution = service.temporal.workflow.getHandle(`subscription/${merchant.organizationId}/${id}`)
    const { currentDetails } = await execution.query<{ currentDetails: string }>(
      '__temporal_workflow_metadata',
    )
    return currentDetails
  }
  const approvals = async (story: Story) =>
    (await story.ledger()).filter(({ result }) => result === 'approved').map(({ amount }) => amount)

  test('it begins with its first payment, on time, and each renewal is charged once', async () => {
    const story = await charged(TEST_CARDS.approves)
    const order = await active(story)
    expect(order).toMatchObject({ billingStatus: 'paid', rebillNumber: 1 })
    expect(time(order.activationTime)).toBe(time(order.startTime))
    expect(await story.skip(70 * DAY)).toMatchObject({ status: 'active', rebillNumber: 3 })
    const invoices = await story.invoices()
    expect(invoices.map(({ status }) => status)).toEqual(['paid', 'paid', 'paid'])
    // Charged at its boundary to the millisecond, however late the response came.
    expect(invoices.map(({ paidTime }) => paidTime)).toEqual(invoices.map(({ periodStart }) => periodStart))
    expect(await story.ledger()).toEqual(
      invoices.map((_, index) => ({
        requestId: `${order.id}.${index + 1}.1`,
        kind: 'charge',
        result: 'approved',
        amount: 10,
      })),
    )
    expect((await story.events()).slice(0, 5)).toEqual([
      'subscription-created',
      'invoice-created',
      'invoice-issued',
      'invoice-paid',
      'subscription-activated',
    ])
  })

  test('24 renewals in one go are each charged once, at their boundaries', async () => {
    const story = await charged(TEST_CARDS.approves)
    await active(story)
    expect(await story.skip(745 * DAY)).toMatchObject({ status: 'active', rebillNumber: 25 })
    const invoices = await story.invoices()
    expect(invoices.map(({ status }) => status)).toEqual(Array(25).fill('paid'))
    expect(invoices.map(({ paidTime }) => paidTime)).toEqual(invoices.map(({ periodStart }) => periodStart))
    expect(await approvals(story)).toEqual(Array(25).fill(10))
  })

  test('a renewal that is approved when the order was canceled for it already goes back', async () => {
    const story = await charged(
      TEST_CARDS.answersLate,
      {
        trial: WEEK_FREE,
        invoiceTimeShift: { dueTimeShift: { chronology: 'after', duration: 0, unit: 'hour' } },
      },
      { delinquencyPeriod: 'PT30S' },
    )
    await active(story)
    const canceled = await story.skip(7 * DAY + 50_000)
    expect(canceled).toMatchObject({ status: 'canceled', billingStatus: 'abandoned' })
    await story.skip(HOUR)
    const refund = await waitFor('the refund', async () => {
      const { body } = await merchant.api.get<Record<string, unknown>[]>(
        `transactions?filter=customerId:${story.created.customerId};type:refund;result:approved`,
      )
      return body[0] ?? null
    })
    expect(refund).toMatchObject({ amount: 10 })
    expect(await story.order()).toMatchObject({ status: 'canceled', billingStatus: 'abandoned' })
    expect(await approvals(story)).toEqual([10])
  })

  test('a free trial charges nothing until its end, then converts', async () => {
    const story = await charged(TEST_CARDS.approves, { trial: WEEK_FREE })
    expect(await story.skip(6 * DAY)).toMatchObject({ inTrial: true, isTrialConverted: false })
    expect(await story.ledger()).toEqual([])
    expect(await story.skip(2 * DAY)).toMatchObject({
      inTrial: false,
      isTrialConverted: true,
      billingStatus: 'paid',
      rebillNumber: 1,
    })
    expect(await approvals(story)).toEqual([10])
    expect((await story.events()).filter((type) => type === 'subscription-trial-converted')).toHaveLength(1)
  })

  test('a paid trial is charged with its setup, then the first period', async () => {
    const story = await charged(TEST_CARDS.approves, { trial: WEEK_PAID, setup: { price: 5 } })
    await active(story)
    expect(await story.skip(8 * DAY)).toMatchObject({ inTrial: false, isTrialConverted: true })
    expect(await approvals(story)).toEqual([6, 10])
  })

  test('a paid trial alone is charged once and ends', async () => {
    const story = await charged(TEST_CARDS.approves, { trial: WEEK_PAID, recurringInterval: null })
    await active(story)
    expect(await story.skip(8 * DAY)).toMatchObject({ status: 'trial-ended', isTrialConverted: false })
    expect(await approvals(story)).toEqual([1])
  })

  test('a one-time sale is complete when its charge is approved', async () => {
    const story = await charged(TEST_CARDS.approves, { recurringInterval: null })
    const order = await until(story, ({ status }) => status === 'completed')
    expect(order).toMatchObject({ billingStatus: 'paid' })
    expect(await approvals(story)).toEqual([10])
    expect((await story.events()).slice(-2)).toEqual(['subscription-activated', 'order-completed'])
  })

  test('declined, then paid by another card: it begins at that instant, and its periods follow', async () => {
    const story = await charged(TEST_CARDS.lacksFunds)
    const pending = await declined(story)
    expect(pending.status).toBe('pending')
    const token = await makeToken(merchant.api, TEST_CARDS.approves)
    const card = { customerId: pending.customerId, token }
    const { id: paymentInstrumentId } = await create(merchant.api, 'payment-instruments', card)
    const changed = await merchant.api.put(`subscriptions/${story.id}`, { ...pending, paymentInstrumentId })
    expect(changed.status).toBe(200)
    const order = await until(story, ({ status }) => status === 'active')
    expect(order).toMatchObject({ billingStatus: 'paid' })
    const [invoice] = await story.invoices()
    // It does not wait for the retry, which would be a day after the decline.
    expect(time(order.activationTime)).toBeGreaterThan(time(pending.startTime))
    expect(time(order.activationTime)).toBeLessThan(time(pending.startTime) + HOUR)
    expect(invoice).toMatchObject({ autopayRetryNumber: 1, periodStart: order.activationTime })
    expect((await story.ledger()).map(({ result }) => result)).toEqual(['declined', 'approved'])
  })

  test('declined, then its start moved ahead: charged at that start, not before, and begun then', async () => {
    const story = await charged(TEST_CARDS.lacksFunds, {}, { delinquencyPeriod: 'P2D' })
    const pending = await declined(story)
    const startTime = new Date(time(pending.startTime) + 30 * DAY).toISOString()
    const moved = await merchant.api.put(`subscriptions/${story.id}`, { ...pending, startTime })
    expect({ status: moved.status, body: moved.body }).toMatchObject({ status: 200, body: { startTime } })
    await giveCard(story, TEST_CARDS.approves)
    expect(await story.skip(29 * DAY)).toMatchObject({ status: 'pending', billingStatus: 'unpaid' })
    expect(await story.ledger()).toHaveLength(1)
    const order = await story.skip(DAY + HOUR)
    expect(order).toMatchObject({ status: 'active', billingStatus: 'paid', activationTime: startTime })
    expect((await story.ledger()).map(({ result }) => result)).toEqual(['declined', 'approved'])
  })

  test('declined, then given an end of its trial: that moves only by what it is late from then on', async () => {
    const story = await charged(TEST_CARDS.lacksFunds, {
      trial: { price: 2, period: { unit: 'week', length: 1 } },
    })
    const pending = await declined(story)
    const late = await story.skip(12 * HOUR)
    const endTime = new Date(time(pending.startTime) + 20 * DAY).toISOString()
    const trial = { enabled: true, endTime }
    const path = `subscriptions/${story.id}`
    expect((await merchant.api.put(path, { ...late, trial })).status).toBe(200)
    expect(await story.skip(2 * HOUR)).toMatchObject({ status: 'pending', trial })
    await giveCard(story, TEST_CARDS.approves)
    const order = await active(story)
    expect(order).toMatchObject({ inTrial: true, trial })
    const delay = time(order.renewalTime) - time(endTime)
    expect(delay).toBeGreaterThanOrEqual(2 * HOUR)
    expect(delay).toBeLessThan(3 * HOUR)
  })

  test('declined at every retry, then abandoned at the delinquency of its first invoice', async () => {
    const story = await charged(TEST_CARDS.declines, {}, { delinquencyPeriod: 'P6D' })
    expect(await story.skip(8 * DAY)).toMatchObject({
      status: 'abandoned',
      billingStatus: 'voided',
      activationTime: null,
    })
    const [invoice] = await story.invoices()
    expect(await story.ledger()).toEqual(
      [1, 2, 3, 4].map((attempt) => ({
        requestId: `${story.created.id}.1.${attempt}`,
        kind: 'charge',
        result: 'declined',
        amount: 10,
      })),
    )
    expect(invoice?.autopayRetryNumber).toBe(3)
  })

  test('declined, then abandoned at its abandonTime', async () => {
    const abandonTime = new Date(Date.now() + 2 * DAY).toISOString()
    const story = await charged(TEST_CARDS.declines, {}, { abandonTime })
    expect(await story.skip(3 * DAY)).toMatchObject({ status: 'abandoned', billingStatus: 'voided' })
    expect(await story.ledger()).toHaveLength(2)
  })

  test('a card that declines renewals: tried again after 1, 3 and 5 days, then past due', async () => {
    const story = await charged(TEST_CARDS.declinesRenewals)
    await active(story)
    const order = await story.skip(40 * DAY)
    expect(order).toMatchObject({ status: 'active', rebillNumber: 2, billingStatus: 'past-due' })
    const [, renewal] = await story.invoices()
    expect((await story.ledger()).map(({ requestId, result }) => [requestId, result]).slice(1)).toEqual(
      [1, 2, 3, 4].map((attempt) => [`${order.id}.2.${attempt}`, 'declined']),
    )
    const times = await service.database.orm.em
      .fork()
      .getConnection()
      .execute<{ days: number }[]>(
        `select round(extract(epoch from charged_time - ?::timestamptz) / 86400, 6)::float8 as days
           from transactions where organization_id = ? and request_id like ? order by request_id`,
        [renewal?.periodStart, merchant.organizationId, `${order.id}.2.%`],
      )
    expect(times.map(({ days }) => days)).toEqual([0, 1, 3, 5])
  })

  test('a card that declines renewals is not charged after three of them; another one is, at once and for all', async () => {
    const story = await charged(TEST_CARDS.declinesRenewals)
    await active(story)
    const { renewalTime } = await story.order()
    await story.forwardTo(time(renewalTime) + HOUR)
    const [, renewal] = await story.invoices()
    const next = new Date(time(renewalTime) + DAY).toISOString()
    expect(renewal).toMatchObject({ status: 'unpaid', autopayScheduledTime: next })
    await waitFor('the retry in the details of the execution', async () =>
      (await details(story)).includes(`Its next charge is planned for ${next}.`) ? true : null,
    )
    await story.skip(200 * DAY)
    expect(await story.ledger()).toHaveLength(1 + 3 * 4)
    const owed = (await story.invoices()).filter(({ status }) => status !== 'paid')
    expect(owed.length).toBeGreaterThanOrEqual(5)
    expect(owed.every(({ autopayScheduledTime }) => autopayScheduledTime === null)).toBe(true)
    await giveCard(story, TEST_CARDS.approves)
    await until(story, ({ billingStatus }) => billingStatus === 'paid')
    await waitFor('the payment of all', async () =>
      (await story.invoices()).every(({ status }) => status === 'paid') ? true : null,
    )
    expect(await approvals(story)).toEqual([10, ...owed.map(() => 10)])
    const paid = await story.skip(40 * DAY)
    expect(paid).toMatchObject({ billingStatus: 'paid' })
  })

  test('a card that declines renewals, where the organization has other retries: tried again after those', async () => {
    const other = await catalogue(service)
    const autopayRetries = ['PT12H', 'P2D']
    const settings = { billing: { autopayRetries } }
    expect((await other.api.put('', { name: 'Patient', settings })).status).toBe(200)
    const { customerId } = await makePayer(other.api, TEST_CARDS.declinesRenewals)
    const story = await placeOrder(service, other, await makePlan(other), { customerId })
    await active(story)
    expect(await story.skip(40 * DAY)).toMatchObject({ status: 'active', billingStatus: 'past-due' })
    const [, renewal] = await story.invoices()
    const { body: attempts } = await other.api.get<Record<string, unknown>[]>(
      `transactions?filter=customerId:${customerId};result:declined&sort=requestId`,
    )
    expect(attempts).toHaveLength(1 + autopayRetries.length)
    expect(renewal?.autopayRetryNumber).toBe(autopayRetries.length)
    const hours = await service.database.orm.em
      .fork()
      .getConnection()
      .execute<{ hours: number }[]>(
        `select round(extract(epoch from charged_time - ?::timestamptz) / 3600, 4)::float8 as hours
           from transactions where organization_id = ? and result = 'declined' order by request_id`,
        [renewal?.periodStart, other.organizationId],
      )
    expect(hours.map((one) => one.hours)).toEqual([0, 12, 48])
  })

  test('delinquent while active: canceled for its debt, and reactivated with a charge', async () => {
    const story = await charged(TEST_CARDS.declinesRenewals, {}, { delinquencyPeriod: 'P7D' })
    await active(story)
    expect(await story.skip(45 * DAY)).toMatchObject({
      status: 'canceled',
      canceledBy: 'rebilly-side',
      cancelCategory: 'billing-failure',
      billingStatus: 'abandoned',
    })
    await giveCard(story, TEST_CARDS.approves)
    const again = await merchant.api.post('subscription-reactivations', { subscriptionId: story.id })
    expect(again.status).toBe(201)
    const order = await until(story, ({ billingStatus }) => billingStatus === 'paid')
    expect(order).toMatchObject({ status: 'active', rebillNumber: 3 })
    expect((await story.invoices()).map(({ status }) => status)).toEqual(['paid', 'abandoned', 'paid'])
    expect(await approvals(story)).toEqual([10, 10])
  })

  test.each([
    ['paid', 10, 'voided'],
    ['paid in part', 4, 'abandoned'],
  ])(
    'delinquent with the next period %s: its money goes back, and a reactivation bills it',
    async (_, amount, ended) => {
      const issueTimeShift = { chronology: 'before', duration: 7, unit: 'day' }
      const members = { autopay: false, delinquencyPeriod: 'P25D' }
      const story = await charged(TEST_CARDS.approves, { invoiceTimeShift: { issueTimeShift } }, members)
      expect(await story.skip(24.5 * DAY)).toMatchObject({ status: 'active', rebillNumber: 1 })
      const [, next] = await story.invoices()
      const { customerId } = story.created
      const { body: payer } = await merchant.api.get(`customers/${customerId}`)
      const { paymentInstrumentId } = payer.defaultPaymentInstrument as Record<string, unknown>
      const sale = await merchant.api.post('transactions', {
        type: 'sale',
        customerId,
        currency: 'EUR',
        amount,
        paymentInstruction: { paymentInstrumentId },
        invoiceIds: [next?.id],
      })
      expect(sale.body).toMatchObject({ result: 'approved' })
      expect(await story.skip(DAY)).toMatchObject({ status: 'canceled', rebillNumber: 1 })
      expect((await story.invoices()).map(({ status }) => status)).toEqual(['abandoned', ended])
      const refund = await waitFor('the refund', async () => {
        const { body } = await merchant.api.get<Record<string, unknown>[]>(
          `transactions?filter=parentTransactionId:${sale.body.id};result:approved`,
        )
        return body[0] ?? null
      })
      expect(refund).toMatchObject({ amount })
      await merchant.api.post('subscription-reactivations', { subscriptionId: story.id })
      expect((await story.invoices()).map(({ periodNumber, status }) => [periodNumber, status])).toEqual([
        [1, 'abandoned'],
        [2, ended],
        [2, 'unpaid'],
      ])
    },
  )

  test('delinquent in trial: canceled before its first paid period', async () => {
    const members = { autopay: false, delinquencyPeriod: 'P2D' }
    const story = await charged(TEST_CARDS.approves, { trial: WEEK_PAID }, members)
    expect(await story.skip(4 * DAY)).toMatchObject({ status: 'canceled', inTrial: true })
    expect(await story.ledger()).toEqual([])
  })

  test('delinquent while paused: nothing is charged in the pause, and its debt cancels it', async () => {
    const story = await charged(TEST_CARDS.declinesRenewals, {}, { delinquencyPeriod: 'P7D' })
    await active(story)
    const renewed = (await story.order()).renewalTime
    await story.skip(time(renewed) - Date.now() + HOUR)
    const paused = await merchant.api.post('subscription-pauses', { subscriptionId: story.id })
    expect(paused.status).toBe(201)
    expect(await story.skip(6 * DAY)).toMatchObject({ status: 'paused' })
    expect(await story.ledger()).toHaveLength(2)
    expect(await story.skip(3 * DAY)).toMatchObject({ status: 'canceled', billingStatus: 'abandoned' })
    expect(await story.ledger()).toHaveLength(2)
  })

  test('retries that fell into a pause are made once, at its end', async () => {
    const story = await charged(TEST_CARDS.declinesRenewals)
    const { renewalTime } = await active(story)
    await story.skip(time(renewalTime) - Date.now() + HOUR)
    const pause = await merchant.api.post('subscription-pauses', { subscriptionId: story.id })
    await story.skip(4 * DAY)
    expect(await story.ledger()).toHaveLength(2)
    await giveCard(story, TEST_CARDS.approves)
    expect((await merchant.api.delete(`subscription-pauses/${pause.body.id}`)).status).toBe(204)
    await until(story, ({ billingStatus }) => billingStatus === 'paid')
    expect((await story.ledger()).map(({ result }) => result)).toEqual(['approved', 'declined', 'approved'])
  })

  test('reactivated after churn: a new period begins and is charged', async () => {
    const story = await charged(TEST_CARDS.approves)
    await active(story)
    await merchant.api.post('subscription-cancellations', { subscriptionId: story.id })
    expect(await story.order()).toMatchObject({ status: 'churned' })
    const made = await merchant.api.post('subscription-reactivations', { subscriptionId: story.id })
    expect(made.status).toBe(201)
    const order = await until(
      story,
      ({ billingStatus, rebillNumber }) => billingStatus === 'paid' && rebillNumber === 2,
    )
    expect(order.status).toBe('active')
    expect(await approvals(story)).toEqual([10, 10])
  })

  test('canceled: no retry of what was declined before', async () => {
    const story = await charged(TEST_CARDS.declinesRenewals)
    const { renewalTime } = await active(story)
    await story.skip(time(renewalTime) - Date.now() + HOUR)
    const churnTime = new Date(time((await story.order()).renewalTime)).toISOString()
    await merchant.api.post('subscription-cancellations', { subscriptionId: story.id, churnTime })
    expect(await story.skip(20 * DAY)).toMatchObject({ status: 'canceled' })
    expect(await story.ledger()).toHaveLength(2)
  })

  test('an answer that is not known at first: pending until asked again, then active as if on time', async () => {
    const story = await charged(TEST_CARDS.answersLate)
    const pending = await unpaid(story)
    const [transaction] = await waitFor('the unknown answer', async () => {
      const { body } = await merchant.api.get<Record<string, unknown>[]>(
        `transactions?filter=customerId:${story.created.customerId}`,
      )
      return body[0]?.result === 'unknown' ? body : null
    })
    expect(transaction).toMatchObject({
      status: 'pending',
      amount: 10,
      invoiceIds: [pending.recentInvoiceId],
    })
    const order = await story.skip(2 * 60_000)
    expect(order).toMatchObject({ status: 'active', billingStatus: 'paid' })
    expect(time(order.activationTime)).toBe(time(order.startTime))
    const [invoice] = await story.invoices()
    expect(time(invoice?.paidTime)).toBeGreaterThanOrEqual(time(order.startTime) + 60_000)
    expect(await story.ledger()).toEqual([
      { requestId: `${order.id}.1.1`, kind: 'charge', result: 'approved', amount: 10 },
    ])
  })

  test('its charges have a task queue of their own, in which no webhook attempt stands before them', async () => {
    const story = await charged(TEST_CARDS.approves)
    await active(story)
    const execution = service.temporal.workflow.getHandle(
      `subscription/${merchant.organizationId}/${story.id}`,
    )
    const { events } = await execution.fetchHistory()
    const calls = events?.flatMap((event) => event.activityTaskScheduledEventAttributes ?? []) ?? []
    expect(calls.map(({ activityType, taskQueue }) => [activityType?.name, taskQueue?.name])).toEqual([
      ['callGateway', `${service.taskQueue}-gateway`],
    ])
  })

  test('a gateway that is away for a while: the order waits, time goes on, and the charge is made once', async () => {
    const client = new pg.Client({ connectionString: service.databaseUrl })
    await client.connect()
    try {
      await client.query('begin')
      await client.query('lock table test_gateway.ledger in exclusive mode')
      const story = await charged(TEST_CARDS.approves)
      const path = `transactions?filter=customerId:${story.created.customerId}`
      await waitFor('an answer that nobody knows', async () => {
        const { body } = await merchant.api.get<Record<string, unknown>[]>(path)
        return body[0]?.result === 'unknown' ? true : null
      })
      expect(await story.order()).toMatchObject({ status: 'pending', billingStatus: 'unpaid' })
      await client.query('rollback')
      const order = await story.skip(2 * 60_000)
      expect(order).toMatchObject({ status: 'active', billingStatus: 'paid' })
      expect(time(order.activationTime)).toBe(time(order.startTime))
      expect(await approvals(story)).toEqual([10])
    } finally {
      await client.end()
    }
  })
})
