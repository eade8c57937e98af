import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'

type Body = Record<string, unknown>

describe('an unpaid invoice', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const later = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
  const begun = async (): Promise<Body> => {
    const order = await create(
      merchant.api,
      'subscriptions',
      orderBody(merchant, { delinquencyPeriod: 'P3D' }),
    )
    await merchant.api.put(`subscriptions/${order.id}`, { ...order, notes: 'Begun.' })
    return (await merchant.api.get(`invoices/${order.initialInvoiceId}`)).body
  }
  const timelineOf = async ({ id }: Body) =>
    (await merchant.api.get<Body[]>(`invoices/${id}/timeline`)).body.map(({ type }) => type)

  test('is abandoned once: nothing is due any more, and the order goes on', async () => {
    const invoice = await begun()
    const response = await merchant.api.post(`invoices/${invoice.id}/abandon`, {})
    expect(response.status).toBe(201)
    expect(response.body).toMatchObject({
      status: 'abandoned',
      abandonedTime: expect.any(String),
      amountDue: 0,
      delinquencyTime: null,
      invoiceNumber: invoice.invoiceNumber,
      revision: Number(invoice.revision) + 1,
    })
    expect(await timelineOf(invoice)).toContain('invoice-abandoned')
    const { body: order } = await merchant.api.get(`subscriptions/${invoice.subscriptionId}`)
    expect(order).toMatchObject({ status: 'active', billingStatus: 'abandoned' })
    for (const action of ['abandon', 'reissue', 'void']) {
      expectProblem(await merchant.api.post(`invoices/${invoice.id}/${action}`, {}), 409, 'conflict')
    }
  })

  test('is reissued with another due time, under its number', async () => {
    const invoice = await begun()
    const dueTime = later(30)
    const response = await merchant.api.post(`invoices/${invoice.id}/reissue`, { dueTime })
    expect(response.status).toBe(201)
    expect(response.body).toMatchObject({
      status: 'unpaid',
      dueTime,
      invoiceNumber: invoice.invoiceNumber,
      issuedTime: invoice.issuedTime,
      amountDue: invoice.amountDue,
    })
    expect(Date.parse(String(response.body.delinquencyTime)) - Date.parse(dueTime)).toBe(3 * 86_400_000)
    expect(await timelineOf(invoice)).toContain('invoice-reissued')
    const again = await merchant.api.post(`invoices/${invoice.id}/reissue`, {})
    expect(Date.parse(String(again.body.dueTime))).toBeGreaterThan(Date.parse(dueTime))
  })

  test.each([
    ['a due time that has passed', { dueTime: '2020-01-01T00:00:00Z' }, ['dueTime']],
    ['a due time without an offset', { dueTime: '2099-01-01T00:00:00' }, ['dueTime']],
    ['a member that it does not have', { due: null }, ['due']],
  ])('is not reissued with %s: 422, and nothing changes', async (_, body, fields) => {
    const invoice = await begun()
    const refused = await merchant.api.post(`invoices/${invoice.id}/reissue`, body)
    expect(expectProblem(refused, 422, 'validation-error')).toEqual(fields)
    expect((await merchant.api.get(`invoices/${invoice.id}`)).body).toEqual(invoice)
  })

  test('is not abandoned or reissued before it is issued, and not where there is none', async () => {
    const order = await create(merchant.api, 'subscriptions', orderBody(merchant, { startTime: later(1) }))
    for (const action of ['abandon', 'reissue']) {
      const path = `invoices/${order.initialInvoiceId}/${action}`
      expectProblem(await merchant.api.post(path, {}), 409, 'conflict')
      expectProblem(await merchant.api.post(`invoices/none/${action}`, {}), 404, 'not-found')
    }
  })
})

describe('an order', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const plan = (members: object = {}) => ({
    name: 'Monthly',
    currency: 'EUR',
    pricing: { formula: 'flat-rate', price: 10 },
    recurringInterval: { unit: 'month', length: 1 },
    ...members,
  })
  const begun = async (members: object = {}): Promise<Body> => {
    const order = await create(
      merchant.api,
      'subscriptions',
      orderBody(merchant, { items: [{ plan: plan() }], ...members }),
    )
    return (await merchant.api.put<Body>(`subscriptions/${order.id}`, { ...order, notes: 'Begun.' })).body
  }
  const read = async (path: string) => (await merchant.api.get<Body>(path)).body
  const issue = (order: Body, body: object = {}) =>
    merchant.api.post(`subscriptions/${order.id}/upcoming-invoice/issue`, body)
  const interim = (order: Body) => merchant.api.post(`subscriptions/${order.id}/interim-invoice`, {})

  test('has its upcoming invoice issued once by a call, due when its period begins or later', async () => {
    const order = await begun({ delinquencyPeriod: 'P3D' })
    const dueTime = new Date(Date.parse(String(order.renewalTime)) + 86_400_000).toISOString()
    const early = new Date(Date.parse(String(order.renewalTime)) - 1000).toISOString()
    const refused = await issue(order, { dueTime: early })
    expectProblem(refused, 422, 'validation-error')
    expect(refused.body.invalidFields).toMatchObject([{ field: 'dueTime' }])
    const before = new Date(Date.parse(String(order.currentPeriodStart)) - 1000).toISOString()
    for (const issuedTime of [early, before]) {
      expect(expectProblem(await issue(order, { issuedTime }), 422, 'validation-error')).toEqual([
        'issuedTime',
      ])
    }
    const upcoming = await read(`subscriptions/${order.id}/upcoming-invoice`)
    const issuedTime = new Date(Date.parse(String(order.currentPeriodStart)) + 1).toISOString()
    const issued = await issue(order, { issuedTime, dueTime })
    expect(issued.status).toBe(201)
    const { id } = issued.body
    expect(id).toBe(upcoming.id)
    expect(issued.headers.get('location')).toContain(`/invoices/${id}`)
    expect(issued.body).toMatchObject({
      status: 'unpaid',
      periodNumber: 2,
      amount: upcoming.amount,
      periodStart: order.renewalTime,
      issuedTime,
      dueTime,
    })
    expect(await read(`invoices/${id}`)).toMatchObject({
      type: 'renewal',
      status: 'unpaid',
      invoiceNumber: expect.any(Number),
      periodNumber: 2,
      dueTime,
      delinquencyTime: new Date(Date.parse(dueTime) + 3 * 86_400_000).toISOString(),
    })
    expect(await read(`subscriptions/${order.id}`)).toMatchObject({ rebillNumber: 1, recentInvoiceId: id })
    expect(await read(`subscriptions/${order.id}/upcoming-invoice`)).toMatchObject({ periodNumber: 3 })
    expectProblem(await issue(order), 409, 'conflict')
  })

  test('answers the issue of its upcoming invoice with what is due after credit, and whom it bills', async () => {
    const customer = await create(merchant.api, 'customers', {
      primaryAddress: { firstName: 'Ada', city: 'Graz', country: 'AT' },
    })
    const order = await begun({ customerId: customer.id })
    const credit = { customerId: customer.id, currency: 'EUR' }
    await create(merchant.api, 'credit-memos', { ...credit, items: [{ unitPrice: 4, quantity: 1 }] })
    const { status, body } = await issue(order)
    expect(status).toBe(201)
    expect(body).toMatchObject({ amount: 10, amountDue: 6, billingAddress: { city: 'Graz' } })
    const { amountDue, billingAddress } = await read(`invoices/${body.id}`)
    expect(body).toMatchObject({ amountDue, billingAddress })
  })

  test('has an invoice issued ahead reissued, due no sooner than its period begins', async () => {
    const order = await begun({ delinquencyPeriod: 'P3D' })
    const { id } = (await issue(order)).body
    const boundary = Date.parse(String(order.renewalTime))
    const reissue = (dueTime: number) =>
      merchant.api.post(`invoices/${id}/reissue`, { dueTime: new Date(dueTime).toISOString() })
    const refused = await reissue(boundary - 1)
    expectProblem(refused, 422, 'validation-error')
    expect(refused.body.invalidFields).toMatchObject([{ field: 'dueTime', code: 'out-of-range' }])
    expect(await reissue(boundary)).toMatchObject({ status: 201, body: { dueTime: order.renewalTime } })
  })

  test('has the upcoming invoice that a path names issued, and no other', async () => {
    const order = await begun()
    const path = `subscriptions/${order.id}/upcoming-invoices`
    const [upcoming] = (await merchant.api.get<Body[]>(path)).body
    for (const id of ['in_none', order.initialInvoiceId]) {
      expectProblem(await merchant.api.post(`${path}/${id}/issue`, {}), 404, 'not-found')
    }
    const issued = await merchant.api.post(`${path}/${upcoming?.id}/issue`, {})
    expect(issued).toMatchObject({ status: 201, body: { id: upcoming?.id, periodNumber: 2 } })
    expect(await read(`invoices/${upcoming?.id}`)).toMatchObject({ type: 'renewal', periodNumber: 2 })
    expectProblem(await merchant.api.post(`${path}/${upcoming?.id}/issue`, {}), 404, 'not-found')
    const [next] = (await merchant.api.get<Body[]>(path)).body
    expect(next).toMatchObject({ periodNumber: 3 })
    expectProblem(await merchant.api.post(`${path}/${next?.id}/issue`, {}), 409, 'conflict')
  })

  test.each([
    [
      'billed at the end of each period',
      {
        items: [
          { plan: plan({ recurringInterval: { unit: 'month', length: 1, billingTiming: 'postpaid' } }) },
        ],
      },
    ],
    [
      'in its last period',
      { items: [{ plan: plan({ recurringInterval: { unit: 'month', length: 1, limit: 1 } }) }] },
    ],
  ])('%s has no upcoming invoice to issue: 409', async (_, members) => {
    expectProblem(await issue(await begun(members)), 409, 'conflict')
  })

  test('has what is queued invoiced between renewals, once', async () => {
    const order = await begun()
    expectProblem(await interim(order), 409, 'conflict')
    const sale = { name: 'Installation', currency: 'EUR', pricing: { formula: 'fixed-fee', price: 49 } }
    const items = [{ plan: plan() }, { plan: sale }]
    await merchant.api.post(`subscriptions/${order.id}/change-items`, {
      items,
      prorated: false,
      renewalPolicy: 'retain',
    })
    const paid = await merchant.api.post(`subscriptions/${order.id}/interim-invoice`, {
      transactionId: 'txn_1',
    })
    expect(expectProblem(paid, 422, 'validation-error')).toEqual(['transactionId'])
    const made = await interim(order)
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      type: 'interim',
      status: 'unpaid',
      amount: 49,
      periodNumber: null,
      items: [{ description: 'Installation', price: 49 }],
    })
    expect(await read(`subscriptions/${order.id}`)).toMatchObject({
      lineItems: [],
      recentInvoiceId: made.body.id,
    })
    expectProblem(await interim(order), 409, 'conflict')
    expectProblem(await merchant.api.post('subscriptions/absent/interim-invoice', {}), 404, 'not-found')
  })
})
