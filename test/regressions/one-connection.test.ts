/**
 * A request that holds a connection and waits for a second one stops the API, once as many as its pool has do so. What a
 * response embeds is read by the connection of its command, and so is as the command leaves it.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { statement } from '../../db/statement.ts'
import { inUnitOfWork } from '../../db/unit-of-work.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { makePayer } from '../support/payments.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken, tokenBody } from '../support/tokens.ts'

type Body = Record<string, unknown>

describe('with one connection to the database', () => {
  let service: TestService
  let merchant: Catalogue
  beforeAll(async () => {
    service = await startService({ worker: false, apiPoolSize: 1 })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  /** Returns what is embedded, which has to be what a later read embeds. */
  const embedded = async (
    method: 'post' | 'put',
    path: string,
    expand: string,
    body: object,
    collection = path,
  ) => {
    const response = await merchant.api[method](`${path}?expand=${expand}`, body)
    expect([200, 201]).toContain(response.status)
    const { id, _embedded } = response.body as { id: string; _embedded: Record<string, Body | null> }
    const read = await merchant.api.get(`${collection}/${id}?expand=${expand}`)
    expect(_embedded).toEqual(read.body._embedded)
    return _embedded
  }
  const order = (members: object = {}) => orderBody(merchant, { autopay: false, ...members })
  const customer = async () => String((await create(merchant.api, 'customers', {})).id)
  const coupon = async () =>
    String((await create(merchant.api, 'coupons', { discount: { type: 'percent', value: 50 } })).id)

  test('a payment token is created', async () => {
    expect(await merchant.api.post('tokens', tokenBody())).toMatchObject({ status: 201 })
  })

  test('a command asks the pool for no second one', async () => {
    const { orm } = service.apiDatabase
    const { organizationId } = merchant
    const second = () => statement(orm.em.fork(), 'a-second-connection', 'select 1')
    const unit = { organizationId, baseUrl: service.baseUrl, now: new Date() }
    const command = inUnitOfWork(orm.em.fork(), unit, async ({ em }) => {
      await statement(em, 'a-first-connection', 'select 1')
      return await second()
    })
    await expect(command).rejects.toThrow('a second connection was wanted within a transaction')
    expect(await second()).toHaveLength(1)
  })

  test('a new order embeds the invoice that is issued with it', async () => {
    expect(
      await embedded('post', 'subscriptions', 'initialInvoice,recentInvoice,customer', order()),
    ).toMatchObject({
      initialInvoice: { amount: 9.9 },
      recentInvoice: { amount: 9.9 },
      customer: { id: merchant.customerId },
    })
  })

  test('an order that takes a coupon embeds its next invoice, less the discount', async () => {
    const own = order({ customerId: await customer() })
    await merchant.api.put('subscriptions/discounted', own)
    const body = { ...own, couponIds: [await coupon()] }
    expect(
      await embedded('put', 'subscriptions/discounted', 'upcomingInvoice', body, 'subscriptions'),
    ).toMatchObject({ upcomingInvoice: { amount: 4.95 } })
  })

  test('a pending order with other items embeds the invoice that is drawn up anew', async () => {
    const startTime = new Date(Date.now() + 86_400_000).toISOString()
    const plan = await create(merchant.api, 'plans', {
      name: 'Seat',
      currency: 'EUR',
      pricing: { formula: 'flat-rate', price: 9.9 },
      recurringInterval: { unit: 'month', length: 1 },
    })
    const change = (quantity: number) =>
      embedded(
        'put',
        'subscriptions/changed',
        'recentInvoice',
        order({ startTime, items: [{ plan: { id: plan.id }, quantity }] }),
        'subscriptions',
      )
    expect(await change(1)).toMatchObject({ recentInvoice: { amount: 9.9 } })
    expect(await change(5)).toMatchObject({ recentInvoice: { amount: 49.5 } })
  })

  test('a new customer embeds the instrument that is made of a token', async () => {
    const body = { paymentToken: await makeToken(merchant.api) }
    expect(await embedded('post', 'customers', 'defaultPaymentInstrument', body)).toMatchObject({
      defaultPaymentInstrument: { last4: '1111' },
    })
  })

  test('a redemption embeds the coupon that it counts for', async () => {
    const body = { couponId: await coupon(), customerId: await customer() }
    expect(await embedded('post', 'coupons-redemptions', 'coupon', body)).toMatchObject({
      coupon: { redemptionsCount: 1 },
    })
  })

  test('a payment embeds the invoice that it has paid', async () => {
    const { customerId, paymentInstrumentId } = await makePayer(merchant.api)
    const placed = await create(merchant.api, 'subscriptions', order({ customerId }))
    const body = {
      type: 'sale',
      customerId,
      websiteId: merchant.websiteId,
      currency: 'EUR',
      amount: 9.9,
      invoiceIds: [placed.initialInvoiceId],
      paymentInstruction: { paymentInstrumentId },
    }
    expect(await embedded('post', 'transactions', 'invoices', body)).toMatchObject({
      invoices: [{ status: 'paid' }],
    })
  })

  test('a preview of a change embeds the customer, and writes nothing', async () => {
    const { id } = await create(merchant.api, 'subscriptions', order())
    const before = await merchant.api.get(`subscriptions/${id}`)
    const preview = await merchant.api.post(
      `subscriptions/${id}/change-items?expand=customer,upcomingInvoice`,
      {
        items: [{ plan: { id: merchant.planId }, quantity: 2 }],
        prorated: false,
        renewalPolicy: 'retain',
        preview: true,
      },
    )
    expect(preview).toMatchObject({ status: 201, body: { _embedded: { customer: { firstName: 'Ada' } } } })
    expect((await merchant.api.get(`subscriptions/${id}`)).body).toEqual(before.body)
  })

  test('a repetition under an Idempotency-Key embeds the same, whatever has happened since', async () => {
    const key = { 'Idempotency-Key': 'embedded' }
    const place = () => merchant.api.post('subscriptions?expand=recentInvoice', order(), key)
    const first = await place()
    const { id, recentInvoiceId } = first.body
    await merchant.api.post(`invoices/${String(recentInvoiceId)}/void`, {})
    const again = await place()
    expect(again.headers.get('Idempotency-Replayed')).toBe('true')
    expect(again.body).toEqual(first.body)
    expect(first.body).toMatchObject({ _embedded: { recentInvoice: { id: recentInvoiceId, amount: 9.9 } } })
    expect((await merchant.api.get(`subscriptions/${String(id)}`)).status).toBe(200)
  })
})
