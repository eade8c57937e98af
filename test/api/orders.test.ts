import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { addDuration } from '../../billing/durations.ts'
import { periodDuration } from '../../billing/periods.ts'
import { advanceOrder, lockSubscription } from '../../commands/orders/advance-order.ts'
import { inUnitOfWork } from '../../db/unit-of-work.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'

// Without a worker: commands first advance an order to their own instant, and so find it begun.
describe('an order and its callers', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const make = (path: string, body: object) => create(merchant.api, path, body)
  const place = (members: object = {}) => make('subscriptions', orderBody(merchant, members))
  const order = async (id: unknown) => (await merchant.api.get(`subscriptions/${id}`)).body
  const eventTypesOf = async (id: unknown) =>
    (
      await service.database.orm.em
        .fork()
        .getConnection()
        .execute<{ type: string }[]>(
          `select type from events
            where entity_id = ? or entity_id in (select id from invoices where subscription_id = ?) order by id`,
          [String(id), String(id)],
        )
    ).map(({ type }) => type)
  const later = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

  test('a pending one is voided with its invoice; an active one is not', async () => {
    const { id, initialInvoiceId } = await place({ startTime: later(1) })
    const voided = await merchant.api.post(`subscriptions/${id}/void`, {})
    expect(voided.status).toBe(201)
    expect(voided.body).toMatchObject({ status: 'voided', billingStatus: 'voided', revision: 2 })
    expect(voided.body.voidTime).toBe(voided.body.updatedTime)
    expect((await merchant.api.get(`invoices/${initialInvoiceId}`)).body).toMatchObject({ status: 'voided' })
    const active = await place()
    expectProblem(await merchant.api.post(`subscriptions/${active.id}/void`, {}), 409, 'conflict')
  })

  test('is canceled at once or at a churn time, and reactivated', async () => {
    const { id } = await place()
    const churnTime = later(10)
    const made = await make('subscription-cancellations', {
      subscriptionId: id,
      churnTime,
      canceledBy: 'customer',
      reason: 'too-expensive',
      description: 'enough',
    })
    expect(made).toMatchObject({
      churnTime,
      canceledBy: 'customer',
      reason: 'too-expensive',
      prorated: false,
    })
    expect(await order(id)).toMatchObject({
      status: 'canceled',
      churnTime,
      canceledBy: 'customer',
      cancelCategory: 'too-expensive',
      cancelDescription: 'enough',
      renewalTime: null,
    })
    const again = await merchant.api.post('subscription-cancellations', { subscriptionId: id })
    expectProblem(again, 409, 'conflict')
    await make('subscription-reactivations', { subscriptionId: id })
    expect(await order(id)).toMatchObject({
      status: 'active',
      rebillNumber: 1,
      churnTime: null,
      canceledBy: null,
    })
    await make('subscription-cancellations', { subscriptionId: id })
    expect(await order(id)).toMatchObject({ status: 'churned' })
    await make('subscription-reactivations', { subscriptionId: id })
    expect(await order(id)).toMatchObject({ status: 'active', rebillNumber: 2, billingStatus: 'unpaid' })
  })

  test('refuses cancellations of no order', async () => {
    const unknown = await merchant.api.post('subscription-cancellations', { subscriptionId: 'none' })
    expect(expectProblem(unknown, 422, 'validation-error')).toEqual(['subscriptionId'])
  })

  test('is paused and resumed; a pause ahead is revoked; overlapping ones are refused', async () => {
    const { id } = await place()
    const ahead = await make('subscription-pauses', {
      subscriptionId: id,
      effectiveTime: later(5),
      endTime: later(9),
    })
    expect(ahead).toMatchObject({ status: 'pending' })
    expectProblem(await merchant.api.post('subscription-pauses', { subscriptionId: id }), 409, 'conflict')
    const moved = await merchant.api.put(`subscription-pauses/${ahead.id}`, { ...ahead, endTime: later(7) })
    expect(moved.status).toBe(200)
    expect((await merchant.api.send('DELETE', `subscription-pauses/${ahead.id}`)).status).toBe(204)
    expect((await merchant.api.get(`subscription-pauses/${ahead.id}`)).body).toMatchObject({
      status: 'revoked',
    })
    expect((await eventTypesOf(id)).slice(-3)).toEqual([
      'subscription-pause-created',
      'subscription-pause-modified',
      'subscription-pause-revoked',
    ])

    const now = await make('subscription-pauses', { subscriptionId: id })
    expect(await order(id)).toMatchObject({ status: 'paused', renewalTime: null })
    expectProblem(await merchant.api.post('subscription-pauses', { subscriptionId: id }), 409, 'conflict')
    expect((await merchant.api.send('DELETE', `subscription-pauses/${now.id}`)).status).toBe(204)
    expect(await order(id)).toMatchObject({ status: 'active', renewalTime: expect.any(String) })
  })

  test('refuses pauses with times in the past or in the wrong order', async () => {
    const { id } = await place()
    const past = await merchant.api.post('subscription-pauses', {
      subscriptionId: id,
      effectiveTime: later(-1),
    })
    expect(expectProblem(past, 422, 'validation-error')).toEqual(['effectiveTime'])
    const crossed = { subscriptionId: id, effectiveTime: later(2), endTime: later(1) }
    const response = await merchant.api.post('subscription-pauses', crossed)
    expect(expectProblem(response, 422, 'validation-error')).toEqual(['endTime'])
  })

  test('pending: other items draw the same invoice up anew', async () => {
    const body = orderBody(merchant, { startTime: later(1), shipping: { amount: 2.5 } })
    const placed = await make('subscriptions', body)
    const items = [{ plan: { id: merchant.planId } }, { plan: { id: merchant.planId } }]
    const changed = await merchant.api.put(`subscriptions/${placed.id}`, { ...placed, items })
    expect(changed.status).toBe(200)
    expect(changed.body).toMatchObject({ initialInvoiceId: placed.initialInvoiceId, revision: 2 })
    expect((await merchant.api.get(`invoices/${placed.initialInvoiceId}`)).body).toMatchObject({
      status: 'draft',
      amount: 22.3,
    })
    expect((await eventTypesOf(placed.id)).slice(2)).toEqual(['invoice-reissued', 'subscription-modified'])
  })

  test('active: other items hold from the next invoice on, and what has passed cannot be changed', async () => {
    const { id } = await place()
    await make('subscription-pauses', { subscriptionId: id, effectiveTime: later(1), endTime: later(2) })
    const active = await order(id)
    expect(active.status).toBe('active')
    const items = [{ plan: { id: merchant.planId } }, { plan: { id: merchant.planId } }]
    const changed = await merchant.api.put(`subscriptions/${id}`, { ...active, items })
    expect({ status: changed.status, items: changed.body.items }).toMatchObject({
      status: 200,
      items: [{ plan: { id: merchant.planId } }, { plan: { id: merchant.planId } }],
    })
    expect((await merchant.api.get(`subscriptions/${id}/upcoming-invoice`)).body).toMatchObject({
      amount: 19.8,
      periodNumber: 2,
      periodStart: active.renewalTime,
    })
    expect((await merchant.api.get(`invoices/${active.initialInvoiceId}`)).body).toMatchObject({
      amount: 9.9,
    })
    expect(await eventTypesOf(id)).toContain('subscription-items-changed')
    const moved = await merchant.api.put(`subscriptions/${id}`, { ...changed.body, startTime: later(1) })
    expectProblem(moved, 409, 'conflict')
    const other = await make('customers', {})
    const given = await merchant.api.put(`subscriptions/${id}`, { ...changed.body, customerId: other.id })
    expectProblem(given, 409, 'conflict')
  })

  test('a renewalTime ahead becomes the next boundary; one that has passed, null and none are ignored', async () => {
    const { id } = await place()
    await make('subscription-pauses', { subscriptionId: id, effectiveTime: later(80), endTime: later(90) })
    const active = await order(id)
    const put = (members: object) => merchant.api.put(`subscriptions/${id}`, { ...active, ...members })
    for (const renewalTime of [later(-1), null, undefined, active.renewalTime]) {
      const ignored = await put({ renewalTime })
      expect({ status: ignored.status, body: ignored.body }).toEqual({ status: 200, body: active })
    }
    const renewalTime = later(50)
    const moved = await put({ renewalTime })
    expect(moved.body).toMatchObject({ renewalTime, currentPeriodEnd: renewalTime })
    // The period after it counts from there.
    expect((await merchant.api.get(`subscriptions/${id}/upcoming-invoice`)).body).toMatchObject({
      periodNumber: 2,
      periodStart: renewalTime,
      periodEnd: new Date(
        addDuration(Date.parse(renewalTime), periodDuration({ unit: 'month', length: 1 })),
      ).toISOString(),
    })
  })

  test.each([
    ['a trial without an end', { trial: { enabled: true } }, ['trial.endTime']],
    ['a trial alone without a trial', { isTrialOnly: true }, ['isTrialOnly']],
    ['a delinquency that is no duration', { delinquencyPeriod: '3 days' }, ['delinquencyPeriod']],
    ['a delinquency of nothing', { delinquencyPeriod: 'P0D' }, ['delinquencyPeriod']],
    ['shipping with too many decimals', { shipping: { amount: 1.001 } }, ['shipping.amount']],
  ])('is refused with %s: 422', async (_, members, fields) => {
    const response = await merchant.api.post('subscriptions', orderBody(merchant, members))
    expect(expectProblem(response, 422, 'validation-error')).toEqual(fields)
  })

  test('an unpaid invoice is voided once', async () => {
    const { id } = await place()
    await make('subscription-pauses', { subscriptionId: id, effectiveTime: later(1), endTime: later(2) })
    const { recentInvoiceId } = await order(id)
    const voided = await merchant.api.post(`invoices/${recentInvoiceId}/void`, {})
    expect({ status: voided.status, body: voided.body }).toMatchObject({
      status: 201,
      body: { status: 'voided', amountDue: 0 },
    })
    expect(await order(id)).toMatchObject({ billingStatus: 'voided' })
    expectProblem(await merchant.api.post(`invoices/${recentInvoiceId}/void`, {}), 409, 'conflict')
  })

  test('expands what it refers to, and nothing for what it does not have', async () => {
    const { id, initialInvoiceId } = await place({ startTime: later(1) })
    const names =
      'customer,leadSource,website,shippingRate,initialInvoice,recentInvoice,upcomingInvoice,paymentInstrument'
    const { body } = await merchant.api.get(`subscriptions/${id}?expand=${names}`)
    expect(body._embedded).toMatchObject({
      customer: { id: merchant.customerId },
      leadSource: null,
      website: { id: merchant.websiteId },
      shippingRate: null,
      initialInvoice: { id: initialInvoiceId },
      recentInvoice: { id: initialInvoiceId },
      upcomingInvoice: null,
      paymentInstrument: null,
    })
  })

  test('is reactivated from no other final state', async () => {
    const { id } = await place({ startTime: later(1) })
    await merchant.api.post(`subscriptions/${id}/void`, {})
    const response = await merchant.api.post('subscription-reactivations', { subscriptionId: id })
    expectProblem(response, 409, 'conflict')
    expect(await order(id)).toMatchObject({ status: 'voided' })
  })

  test('a cancellation ends a pause under way without an event of its own, and revokes one ahead', async () => {
    const { id } = await place()
    const pause = await make('subscription-pauses', { subscriptionId: id })
    await make('subscription-cancellations', { subscriptionId: id })
    expect((await merchant.api.get(`subscription-pauses/${pause.id}`)).body).toMatchObject({
      status: 'finished',
    })
    const { body } = await merchant.api.get<{ type: string }[]>(`subscriptions/${id}/timeline`)
    expect(body.map(({ type }) => type)).not.toContain('subscription-resumed')
    expect(await order(id)).toMatchObject({ status: 'churned' })
  })

  test('an instant that an order has passed is not processed again', async () => {
    const { id } = await place({ startTime: later(1) })
    const advance = (days: number) =>
      inUnitOfWork(
        service.database.orm.em.fork(),
        { organizationId: merchant.organizationId, baseUrl: service.baseUrl, now: new Date() },
        async (unit) => {
          const row = await lockSubscription(unit, String(id))
          if (row !== null) await advanceOrder(unit, row, Date.now() + days * 86_400_000)
        },
      )
    await advance(2)
    const { revision, status } = await order(id)
    expect(status).toBe('active')
    // As if the start had been undone: only an instant not yet advanced to may begin it again.
    await service.database.orm.em
      .fork()
      .getConnection()
      .execute("update subscriptions set status = 'pending' where id = ? returning 1", [String(id)])
    await advance(1.5)
    expect(await order(id)).toMatchObject({ status: 'pending', revision })
  })

  test('what was done to it can be read again, one by one and as a list', async () => {
    const { id } = await place()
    const pause = await make('subscription-pauses', { subscriptionId: id, description: 'holidays' })
    await merchant.api.delete(`subscription-pauses/${pause.id}`)
    const done = {
      'subscription-pauses': pause,
      'subscription-cancellations': await make('subscription-cancellations', { subscriptionId: id }),
      'subscription-reactivations': await make('subscription-reactivations', { subscriptionId: id }),
    }
    for (const [path, made] of Object.entries(done)) {
      const one = await merchant.api.get(`${path}/${made.id}`)
      expect(one).toMatchObject({ status: 200, body: { id: made.id, subscriptionId: id } })
      const list = await merchant.api.get<object[]>(`${path}?filter=subscriptionId:${id}`)
      expect({ path, status: list.status, body: list.body }).toEqual({ path, status: 200, body: [one.body] })
    }
  })

  test('has a timeline of every transition, newest first, and 404 where nothing is upcoming', async () => {
    const { id } = await place({ startTime: later(1) })
    await merchant.api.post(`subscriptions/${id}/void`, {})
    const { body } = await merchant.api.get<{ type: string; cause: string }[]>(`subscriptions/${id}/timeline`)
    expect(body.map(({ type }) => type)).toEqual([
      'invoice-voided',
      'order-voided',
      'invoice-created',
      'order-created',
    ])
    expect(new Set(body.map(({ cause }) => cause))).toEqual(new Set(['api']))
    for (const entry of body) {
      expect(entry).toMatchObject({
        id: expect.any(String),
        occurredTime: expect.stringMatching(/Z$/),
        message: expect.any(String),
      })
    }
    expectProblem(await merchant.api.get(`subscriptions/${id}/upcoming-invoice`), 404, 'not-found')
  })
})
