import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'

const DAY = 86_400_000
type Body = Record<string, unknown>

describe('an invoice', () => {
  let service: TestService
  let merchant: Catalogue
  let productId: string
  let items: object[]

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
    productId = String((await make('products', { name: 'Seat' })).id)
    const { id: seats } = await make('plans', {
      name: 'Seats',
      productId,
      currency: 'EUR',
      pricing: { formula: 'flat-rate', price: 2.5 },
      recurringInterval: { unit: 'month', length: 1 },
      setup: { price: 5 },
    })
    const { id: sale } = await make('plans', {
      name: 'Delivery',
      currency: 'EUR',
      pricing: { formula: 'fixed-fee', price: 4 },
    })
    items = [
      { plan: { id: seats }, quantity: 3 },
      { plan: { id: sale }, quantity: 2 },
    ]
  })
  afterAll(() => service.stop())

  const later = (days: number) => new Date(Date.now() + days * DAY).toISOString()
  const sql = (text: string, values: unknown[]) =>
    service.database.orm.em.fork().getConnection().execute(text, values)
  const make = async (path: string, body: object): Promise<Body> => {
    const response = await merchant.api.post(path, body)
    expect({ status: response.status, body: response.status === 201 ? null : response.body }).toEqual({
      status: 201,
      body: null,
    })
    return response.body
  }
  const get = async <T = Body>(path: string) => (await merchant.api.get<T>(path)).body
  const begun = async (members: object = {}): Promise<{ order: Body; invoice: Body }> => {
    const body = orderBody(merchant, { items, shipping: { amount: 3, calculator: 'manual' }, ...members })
    const { id } = await make('subscriptions', body)
    const { body: order } = await merchant.api.put(`subscriptions/${id}`, { ...body, notes: 'Begun.' })
    return { order, invoice: await get(`invoices/${order.initialInvoiceId}`) }
  }
  const pay = (invoiceId: unknown, amount: number) =>
    make('transactions', {
      type: 'sale',
      customerId: merchant.customerId,
      currency: 'EUR',
      amount,
      paymentInstruction: { method: 'external' },
      invoiceIds: [invoiceId],
    })

  test('has every member of its shape, those of features that are not built at their neutral value', async () => {
    const { order, invoice } = await begun({ poNumber: 'PO 1' })
    expect(invoice).toMatchObject({
      organizationId: merchant.organizationId,
      subscriptionId: order.id,
      orderId: order.id,
      customerId: merchant.customerId,
      websiteId: merchant.websiteId,
      type: 'initial',
      status: 'unpaid',
      isNewOrder: true,
      currency: 'EUR',
      amount: 19.5,
      amountDue: 19.5,
      subtotalAmount: 16.5,
      shipping: { amount: 3, calculator: 'manual' },
      discountAmount: 0,
      discounts: [],
      tax: { calculator: 'manual', amount: 0, items: [] },
      poNumber: 'PO 1',
      invoiceNumber: expect.any(Number),
      quoteId: null,
      organizationTaxIdNumber: null,
      customerTaxIdNumber: null,
      billingAddress: { firstName: 'Ada' },
      deliveryAddress: null,
      creditMemoAllocations: [],
      paymentFormUrl: null,
      retryInstruction: null,
      dueReminderTime: null,
      dueReminderNumber: null,
      autopayScheduledTime: null,
      autopayRetryNumber: 0,
      collectionPeriod: null,
      delinquentCollectionPeriod: null,
      abandonedTime: null,
      transactions: [],
    })
  })

  test('has items whose quantity times unit price is their price, with ids that stay', async () => {
    const { order, invoice } = await begun()
    const period = {
      periodStartTime: order.currentPeriodStart,
      periodEndTime: order.currentPeriodEnd,
      periodNumber: 1,
    }
    const none = { periodStartTime: null, periodEndTime: null, periodNumber: null }
    const about = { type: 'debit', subscriptionId: order.id, tax: null }
    const [first, second] = order.items as { planId: string }[]
    expect(invoice.items).toMatchObject([
      { ...about, ...none, description: 'Seats: setup', unitPrice: 5, quantity: 1, price: 5 },
      {
        ...about,
        ...period,
        description: 'Seats',
        unitPrice: 2.5,
        quantity: 3,
        price: 7.5,
        planId: first?.planId,
        productId,
      },
      {
        ...about,
        ...none,
        description: 'Delivery (2 units)',
        unitPrice: 4,
        quantity: 1,
        price: 4,
        planId: second?.planId,
        productId: null,
      },
      { ...about, ...none, description: 'Shipping', unitPrice: 3, quantity: 1, price: 3, planId: null },
    ])
    const ids = (invoice.items as Body[]).map(({ id }) => id)
    expect(new Set(ids).size).toBe(4)
    await pay(invoice.id, 19.5)
    const paid = await get(`invoices/${invoice.id}`)
    expect((paid.items as Body[]).map(({ id }) => id)).toEqual(ids)
  })

  test('keeps the id of a line that stays when its draft is drawn up anew', async () => {
    const placed = await make('subscriptions', orderBody(merchant, { items, startTime: later(1) }))
    const before = await get(`invoices/${placed.initialInvoiceId}`)
    const [seats] = placed.items as Body[]
    await merchant.api.put(`subscriptions/${placed.id}`, { ...placed, items: [{ ...seats, quantity: 4 }] })
    const after = await get(`invoices/${placed.initialInvoiceId}`)
    const idOf = (invoice: Body, description: string) =>
      (invoice.items as Body[]).find((item) => item.description === description)?.id
    expect(after).toMatchObject({ amount: 15, revision: 2 })
    expect(idOf(after, 'Seats')).toBe(idOf(before, 'Seats'))
    expect(idOf(after, 'Seats: setup')).toBe(idOf(before, 'Seats: setup'))
  })

  test('lists its items, page by page, and gives each one alone, with product and plan', async () => {
    const { invoice } = await begun()
    const path = `invoices/${invoice.id}/items`
    const all = await merchant.api.get<Body[]>(path)
    expect(all.body).toEqual(invoice.items)
    expect(all.headers.get('pagination-total')).toBe('4')
    const page = await merchant.api.get<Body[]>(`${path}?limit=2&offset=1&expand=product,plan`)
    expect(page.body).toMatchObject([
      { description: 'Seats', _embedded: { product: { id: productId }, plan: { name: 'Seats' } } },
      { description: 'Delivery (2 units)', _embedded: { product: null, plan: { name: 'Delivery' } } },
    ])
    expect(['total', 'limit', 'offset'].map((name) => page.headers.get(`pagination-${name}`))).toEqual([
      '4',
      '2',
      '1',
    ])
    const [item] = all.body
    const one = await merchant.api.get(`${path}/${item?.id}?expand=plan`)
    expect(one).toMatchObject({ status: 200, body: { ...item, _embedded: { plan: { name: 'Seats' } } } })
    expect(await get(`${path}/${item?.id}?fields=price`)).toEqual({ price: 5 })
    expectProblem(await merchant.api.get(`${path}/none`), 404, 'not-found')
    expectProblem(await merchant.api.get('invoices/none/items'), 404, 'not-found')
    expectProblem(await merchant.api.get('invoices/none/items/x'), 404, 'not-found')
    expectProblem(await merchant.api.get(`${path}?expand=colour`), 400, 'malformed-request')
  })

  test('shows its sales with their refunds, and what the sales have paid', async () => {
    const { invoice } = await begun()
    const [first, second] = [await pay(invoice.id, 10), await pay(invoice.id, 9.5)]
    const refund = await make('transactions', { type: 'refund', parentTransactionId: second?.id, amount: 2 })
    const other = await begun()
    await pay(other.invoice.id, 1)
    const shown = await get<{ transactions: Body[] } & Body>(`invoices/${invoice.id}`)
    expect(shown).toMatchObject({ status: 'partially-refunded', amountDue: 0 })
    expect(shown.transactions.map(({ id }) => id)).toEqual([first?.id, second?.id, refund.id])
    expect(shown.transactions[0]).toEqual(await get(`transactions/${first?.id}`))
    const listed = await get<Body[]>(`invoices?filter=id:${invoice.id}`)
    expect(listed).toEqual([shown])

    const path = `invoices/${invoice.id}/transaction-allocations`
    const allocations = await merchant.api.get<Body[]>(path)
    expect(allocations.body).toMatchObject([
      { invoiceId: invoice.id, transactionId: first?.id, amount: 10, currency: 'EUR' },
      { invoiceId: invoice.id, transactionId: second?.id, amount: 9.5, currency: 'EUR' },
    ])
    expect(allocations.headers.get('pagination-total')).toBe('2')
    const page = await merchant.api.get<Body[]>(`${path}?limit=1&offset=1`)
    expect(page.body).toMatchObject([{ transactionId: second?.id }])
    expectProblem(await merchant.api.get('invoices/none/transaction-allocations'), 404, 'not-found')
    // A transaction changes without its invoice, so that a copy is never certainly current.
    const conditional = await merchant.api.get(`invoices/${invoice.id}`, { 'If-None-Match': '*' })
    expect(conditional.status).toBe(200)
  })

  test('counts the days until it was paid, from its issue and from its due time', async () => {
    const { invoice } = await begun()
    await sql(
      `update invoices set issued_time = now() - interval '5 days 1 hour', due_time = now() - interval '2 days 1 hour' where id = ?`,
      [invoice.id],
    )
    await pay(invoice.id, 19.5)
    const paid = await get(`invoices/${invoice.id}`)
    expect(paid).toMatchObject({ collectionPeriod: 5, delinquentCollectionPeriod: 2 })
    const early = await begun()
    await pay(early.invoice.id, 19.5)
    expect(await get(`invoices/${early.invoice.id}`)).toMatchObject({
      collectionPeriod: 0,
      delinquentCollectionPeriod: 0,
    })
    const found = await get<Body[]>('invoices?filter=collectionPeriod:5..;delinquentCollectionPeriod:2')
    expect(found.map(({ id }) => id)).toEqual([invoice.id])
  })

  test('says when it is charged next, and when it was abandoned', async () => {
    const { id: customerId } = await make('customers', {})
    const token = await makeToken(merchant.api)
    const { id: paymentInstrumentId } = await make('payment-instruments', { customerId, token })
    const { order, invoice } = await begun({ customerId, paymentInstrumentId })
    expect(invoice).toMatchObject({ autopayScheduledTime: invoice.issuedTime })
    const { revision } = invoice
    const without = await merchant.api.put(`subscriptions/${order.id}`, { ...order, autopay: false })
    expect(without.status).toBe(200)
    expect(await get(`invoices/${invoice.id}`)).toMatchObject({
      autopayScheduledTime: null,
      revision: Number(revision) + 1,
    })
    const { order: late, invoice: owed } = await begun({ delinquencyPeriod: 'PT1H', autopay: false })
    await sql(`update invoices set delinquency_time = now() - interval '1 minute' where id = ?`, [owed.id])
    await merchant.api.put(`subscriptions/${late.id}`, { ...late, notes: 'Late.' })
    const abandoned = await get(`invoices/${owed.id}`)
    expect(abandoned).toMatchObject({ status: 'abandoned', abandonedTime: expect.any(String) })
    expect(await get(`subscriptions/${late.id}`)).toMatchObject({
      status: 'canceled',
      canceledTime: abandoned.abandonedTime,
    })
  })

  test('expands what it refers to, and nothing for what it does not have', async () => {
    const { invoice } = await begun()
    const expanded = await get(
      `invoices/${invoice.id}?expand=customer,website,organization,leadSource,shippingRate`,
    )
    expect(expanded._embedded).toMatchObject({
      customer: { id: merchant.customerId },
      website: { id: merchant.websiteId },
      organization: { id: merchant.organizationId },
      leadSource: null,
      shippingRate: null,
    })
  })

  test('can be sorted and filtered by every scalar member', async () => {
    const { invoice } = await begun()
    const neutral = [
      'quoteId',
      'organizationTaxIdNumber',
      'customerTaxIdNumber',
      'billingAddress',
      'deliveryAddress',
      'paymentFormUrl',
      'retryInstruction',
      'dueReminderTime',
      'dueReminderNumber',
    ]
    const names = Object.entries(invoice).flatMap(([name, value]) =>
      name.startsWith('_') || (typeof value === 'object' && value !== null) || neutral.includes(name)
        ? []
        : [name],
    )
    expect(names.length).toBeGreaterThan(25)
    for (const name of [...names, 'shipping.amount', 'shipping.calculator']) {
      const response = await merchant.api.get(`invoices?limit=1&sort=-${name}&filter=${name}:!null`)
      expect({ name, status: response.status }).toEqual({ name, status: 200 })
    }
    const found = await get<Body[]>(
      `invoices?filter=subtotalAmount:16.5;shipping.amount:3;isNewOrder:true;orderId:${invoice.orderId}`,
    )
    expect(found).toMatchObject([{ id: invoice.id }])
  })

  test('that is upcoming is previewed alone and in a list, with what it refers to', async () => {
    const { order } = await begun({ poNumber: 'PO 9' })
    const path = `subscriptions/${order.id}/upcoming-invoice`
    const upcoming = await get(path)
    expect(upcoming).toMatchObject({
      organizationId: merchant.organizationId,
      subscriptionId: order.id,
      revision: order.revision,
      status: 'draft',
      isNewOrder: false,
      amount: 10.5,
      amountDue: 10.5,
      subtotalAmount: 7.5,
      shipping: { amount: 3, calculator: 'manual' },
      discountAmount: 0,
      poNumber: 'PO 9',
      periodStart: order.currentPeriodEnd,
      items: [
        {
          description: 'Seats',
          unitPrice: 2.5,
          quantity: 3,
          price: 7.5,
          periodStartTime: order.currentPeriodEnd,
          periodNumber: 2,
          isInterim: false,
          tax: null,
        },
        { description: 'Shipping', price: 3, periodNumber: null },
      ],
    })
    const list = await merchant.api.get<Body[]>(`${path}s`)
    expect({ status: list.status, body: list.body }).toEqual({ status: 200, body: [upcoming] })
    expect(list.headers.get('pagination-total')).toBe('1')
    const expanded = await get(`${path}?expand=customer,website,organization,leadSource`)
    expect(expanded._embedded).toMatchObject({
      customer: { id: merchant.customerId },
      website: { id: merchant.websiteId },
      organization: { id: merchant.organizationId },
      leadSource: null,
    })
    const pending = await make('subscriptions', orderBody(merchant, { startTime: later(1) }))
    expect(await get(`subscriptions/${pending.id}/upcoming-invoices`)).toEqual([])
    expectProblem(await merchant.api.get('subscriptions/none/upcoming-invoices'), 404, 'not-found')
    expectProblem(await merchant.api.get(`${path}?expand=shippingRate`), 400, 'malformed-request')
  })
})
