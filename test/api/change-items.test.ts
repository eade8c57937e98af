import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { makePayer } from '../support/payments.ts'
import { startService, type TestService } from '../support/service.ts'

type Body = Record<string, unknown>

const DAY = 86_400_000

// Without a worker: commands first advance an order to their own instant, and so find it begun.
describe('a change of items', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const sql = <T = Body>(text: string, values: unknown[] = []) =>
    service.database.orm.em.fork().getConnection().execute<T[]>(text, values)
  const read = async (path: string) => (await merchant.api.get(path)).body
  const plan = (price: number, members: object = {}) => ({
    name: `Plan for ${price}`,
    currency: 'EUR',
    pricing: { formula: 'flat-rate', price },
    recurringInterval: { unit: 'day', length: 30 },
    ...members,
  })
  const begun = async (price: number, members: object = {}): Promise<Body> => {
    const startTime = new Date(Date.now() - 15 * DAY).toISOString()
    const { id } = await create(
      merchant.api,
      'subscriptions',
      orderBody(merchant, { items: [{ plan: plan(price) }], startTime, ...members }),
    )
    const far = { effectiveTime: new Date(Date.now() + 800 * DAY).toISOString() }
    const pause = await create(merchant.api, 'subscription-pauses', { subscriptionId: id, ...far })
    await merchant.api.delete(`subscription-pauses/${pause.id}`)
    return await read(`subscriptions/${id}`)
  }
  const change = (order: Body, items: object[], members: object = {}) =>
    merchant.api.post(`subscriptions/${order.id}/change-items`, {
      items,
      renewalPolicy: 'retain',
      prorated: true,
      ...members,
    })
  const eventTypesOf = async (order: Body) =>
    (
      await sql<{ type: string }>('select type from events where payload::text like ? order by position', [
        `%${order.id}%`,
      ])
    ).map(({ type }) => type)
  const timelineOf = async (order: Body) =>
    ((await merchant.api.get(`subscriptions/${order.id}/timeline?limit=100`)).body as unknown as Body[]).map(
      ({ type }) => type,
    )
  const near = (amount: number) => ({
    asymmetricMatch: (value: unknown) => Math.abs(Number(value) - amount) <= 0.01,
  })

  test('to a dearer plan invoices the difference at once, by a credit and a debit line', async () => {
    const order = await begun(10)
    const changed = await change(order, [{ plan: plan(20) }])
    expect(changed).toMatchObject({
      status: 201,
      body: {
        items: [{ plan: plan(20), isModified: true }],
        renewalTime: order.renewalTime,
        rebillNumber: 1,
        lineItems: [],
        lineItemSubtotal: { currency: 'EUR', amount: 0 },
      },
    })
    const invoice = await read(`invoices/${changed.body.recentInvoiceId}`)
    expect(invoice).toMatchObject({
      type: 'interim',
      status: 'unpaid',
      amount: near(5),
      items: [
        { type: 'credit', description: 'Unused time on Plan for 10', price: near(5), quantity: 1 },
        { type: 'debit', description: 'Remaining time on Plan for 20', price: near(10), quantity: 1 },
      ],
    })
    const [credit] = invoice.items as Body[]
    expect(credit).toMatchObject({ unitPrice: credit?.price, periodEndTime: order.renewalTime })
    expect(await eventTypesOf(order)).toEqual(
      expect.arrayContaining([
        'subscription-items-changed',
        'subscription-upgraded',
        'subscription-modified',
      ]),
    )
    expect(await timelineOf(order)).toEqual(expect.arrayContaining(['order-items-changed']))
    expect(await read(`subscriptions/${order.id}/upcoming-invoice`)).toMatchObject({ amount: 20 })
  })

  test('by a one-time sale where no renewal follows invoices the sale at once', async () => {
    const sale = { name: 'Installation', currency: 'EUR', pricing: { formula: 'fixed-fee', price: 49 } }
    const last = { recurringInterval: { unit: 'day', length: 30, limit: 1 } }
    for (const item of [{ plan: { ...sale, name: 'Router' } }, { plan: plan(10, last) }]) {
      const order = await begun(10, { items: [item] })
      const changed = await change(order, [item, { plan: sale }], { prorated: false })
      expect(changed).toMatchObject({ status: 201, body: { status: 'active', lineItems: [] } })
      expect(await read(`invoices/${changed.body.recentInvoiceId}`)).toMatchObject({
        type: 'interim',
        status: 'unpaid',
        amount: 49,
      })
    }
  })

  test('to a cheaper plan queues the credit, which the upcoming invoice shows', async () => {
    const order = await begun(20)
    const changed = await change(order, [{ plan: plan(10) }])
    expect(changed).toMatchObject({
      status: 201,
      body: {
        recentInvoiceId: order.recentInvoiceId,
        lineItems: [
          { type: 'credit', unitPriceAmount: near(10), unitPriceCurrency: 'EUR', quantity: 1 },
          { type: 'debit', unitPriceAmount: near(5), periodEndTime: order.renewalTime },
        ],
        lineItemSubtotal: { currency: 'EUR', amount: near(-5) },
      },
    })
    expect(await read(`subscriptions/${order.id}/upcoming-invoice`)).toMatchObject({
      amount: near(5),
      items: [
        { type: 'debit', price: 10 },
        { type: 'debit', price: near(5) },
        { type: 'credit', price: near(10) },
      ],
    })
    expect(await eventTypesOf(order)).toContain('subscription-downgraded')
    // What was read is accepted unchanged, and leaves the credit.
    expect(await merchant.api.put(`subscriptions/${order.id}`, changed.body)).toMatchObject({
      status: 200,
      body: { revision: changed.body.revision, lineItems: changed.body.lineItems },
    })
  })

  test('of a period that is billed at its end queues the time before it at the prices of then', async () => {
    const interval = { recurringInterval: { unit: 'day', length: 30, billingTiming: 'postpaid' } }
    const order = await begun(10, { items: [{ plan: plan(10, interval) }] })
    const changed = await change(order, [{ plan: plan(40, interval) }])
    expect(changed.body).toMatchObject({
      lineItems: [{ type: 'debit', description: 'Used time on Plan for 10', unitPriceAmount: near(5) }],
      lineItemSubtotal: { amount: near(5) },
    })
    expect(await read(`subscriptions/${order.id}/upcoming-invoice`)).toMatchObject({
      amount: 25,
      items: [{ price: near(5) }, { description: 'Remaining time on Plan for 40', price: near(20) }],
    })
  })

  test('keeps what was filled of an item that stays, and that it does not count, unless it says otherwise', async () => {
    const [item, other] = [{ plan: plan(10), quantity: 2 }, { plan: plan(7) }]
    const order = await begun(10, {
      items: [{ ...item, quantityFilled: 2, excludeFromMrr: true }, other],
    })
    const same = await change(order, [item, other], { prorated: false })
    expect(same).toMatchObject({ status: 201, body: { revision: order.revision, items: order.items } })
    const more = await change(order, [{ ...item, quantity: 3 }, other, { plan: plan(8) }])
    expect(more.body.items).toMatchObject([
      { quantity: 3, quantityFilled: 2, excludeFromMrr: true, revision: 2 },
      { quantityFilled: 0, excludeFromMrr: false, revision: 1 },
      { quantityFilled: 0, excludeFromMrr: false, revision: 1 },
    ])
    const counted = { ...item, quantityFilled: 0, excludeFromMrr: false }
    expect((await change(order, [counted, other])).body.items).toMatchObject([
      { quantity: 2, quantityFilled: 0, excludeFromMrr: false, revision: 3 },
      { revision: 1 },
    ])
  })

  test('without proration is invoiced from the next invoice on', async () => {
    const order = await begun(10)
    const changed = await change(order, [{ plan: plan(20) }], { prorated: false })
    expect(changed.body).toMatchObject({ recentInvoiceId: order.recentInvoiceId, lineItems: [] })
    expect(await read(`subscriptions/${order.id}/upcoming-invoice`)).toMatchObject({ amount: 20 })
  })

  test('with proration voids an invoice of the coming period that is issued already', async () => {
    const order = await begun(100)
    const issued = await merchant.api.post(`subscriptions/${order.id}/upcoming-invoice/issue`, {})
    expect(issued).toMatchObject({ status: 201, body: { amount: 100 } })
    const { status } = await change(order, [{ plan: plan(10) }])
    expect(status).toBe(201)
    const ahead = `invoices?filter=subscriptionId:${order.id};type:renewal`
    expect((await merchant.api.get(ahead)).body).toMatchObject([{ status: 'voided', amount: 100 }])
    // The credit for half of the period is more than its price.
    expect(await read(`subscriptions/${order.id}/upcoming-invoice`)).toMatchObject({ amount: 0 })
  })

  test('is refused while what it bills anew was paid outside of the service, until that is refunded', async () => {
    const order = await begun(100)
    const issued = await create(merchant.api, `subscriptions/${order.id}/upcoming-invoice/issue`, {})
    const sale = await create(merchant.api, 'transactions', {
      type: 'sale',
      customerId: order.customerId,
      websiteId: order.websiteId,
      invoiceIds: [issued.id],
      currency: 'EUR',
      amount: 100,
      paymentInstruction: { method: 'external' },
    })
    for (const renewalPolicy of ['retain', 'reset']) {
      const refused = await change(order, [{ plan: plan(10) }], { renewalPolicy })
      expectProblem(refused, 409, 'conflict')
      expect(refused.body.detail).toContain(String(issued.id))
    }
    expect(await read(`invoices/${issued.id}`)).toMatchObject({ status: 'paid' })
    expect((await change(order, [{ plan: plan(10) }], { prorated: false })).status).toBe(201)
    await create(merchant.api, `transactions/${sale.id}/refund`, { amount: 100 })
    expect((await change(order, [{ plan: plan(20) }])).status).toBe(201)
    expect(await read(`invoices/${issued.id}`)).toMatchObject({ status: 'refunded' })
  })

  test('is refused while a part of what it bills anew was paid outside of the service, until that is refunded', async () => {
    const { customerId, paymentInstrumentId } = await makePayer(merchant.api)
    const order = await begun(100, { customerId, autopay: false })
    const issued = await create(merchant.api, `subscriptions/${order.id}/upcoming-invoice/issue`, {})
    const pay = (amount: number, paymentInstruction: object) =>
      create(merchant.api, 'transactions', {
        type: 'sale',
        customerId,
        invoiceIds: [issued.id],
        currency: 'EUR',
        amount,
        paymentInstruction,
      })
    const outside = await pay(40, { method: 'external' })
    const charged = await pay(60, { paymentInstrumentId })
    const reset = () => change(order, [{ plan: plan(10) }], { renewalPolicy: 'reset' })
    for (const amount of [15, 25]) {
      expectProblem(await reset(), 409, 'conflict')
      await create(merchant.api, `transactions/${outside.id}/refund`, { amount })
    }
    expect((await reset()).status).toBe(201)
    expect(await read(`invoices/${issued.id}`)).toMatchObject({ status: 'voided' })
    expect(await read(`transactions?filter=parentTransactionId:${charged.id}`)).toMatchObject([
      { amount: 60 },
    ])
  })

  test('to more units of a one-time sale bills those, at once or with the next invoice', async () => {
    const hardware = plan(200, { name: 'Hardware', recurringInterval: null })
    const order = await begun(10, { items: [{ plan: plan(10) }, { plan: hardware, quantity: 1 }] })
    const three = [{ plan: plan(10) }, { plan: hardware, quantity: 3 }]
    const line = { description: 'Hardware', quantity: 2, unitPrice: 200, price: 400 }
    const { body } = await change(order, three)
    expect(await read(`invoices/${body.recentInvoiceId}`)).toMatchObject({
      type: 'interim',
      amount: 400,
      items: [line],
    })
    expect(
      (await change(body, [{ plan: plan(10) }, { plan: hardware, quantity: 5 }], { prorated: false })).status,
    ).toBe(201)
    expect(await read(`subscriptions/${order.id}/upcoming-invoice`)).toMatchObject({ amount: 410 })
  })

  test('without a one-time sale that waits takes it back, so that it is billed once if it is added again', async () => {
    const sale = {
      plan: { name: 'Installation', currency: 'EUR', pricing: { formula: 'fixed-fee', price: 49 } },
    }
    const order = await begun(10)
    const having = async (before: Body, items: object[]): Promise<Body> => {
      const { status, body } = await merchant.api.put(`subscriptions/${order.id}`, { ...before, items })
      expect(status).toBe(200)
      return body
    }
    const items = order.items as object[]
    const sold = await having(order, [...items, sale])
    expect(sold.lineItemSubtotal).toMatchObject({ amount: 49 })
    const returned = await having(sold, items)
    expect(returned).toMatchObject({ lineItems: [], lineItemSubtotal: { amount: 0 } })
    await having(returned, [...items, sale])
    expect(await read(`subscriptions/${order.id}/upcoming-invoice`)).toMatchObject({ amount: 59 })
  })

  test('of the places of one-time sales of one plan bills nothing', async () => {
    const hardware = plan(200, { name: 'Hardware', recurringInterval: null })
    const one = { plan: hardware, quantity: 1 }
    const three = { plan: hardware, quantity: 3 }
    const order = await begun(10, { items: [{ plan: plan(10) }, one, three] })
    const { body } = await change(order, [{ plan: plan(10) }, three, one])
    expect(body).toMatchObject({ recentInvoiceId: order.recentInvoiceId, lineItems: [] })
    expect((await change(body, [{ plan: plan(10) }, three])).body).toMatchObject({
      recentInvoiceId: order.recentInvoiceId,
      lineItems: [],
    })
  })

  test.each([
    ['reset', near(15)],
    ['resetToRecurring', near(15)],
  ])('with %s begins a new period now, of another length too', async (renewalPolicy, amount) => {
    const order = await begun(10)
    const yearly = plan(20, { recurringInterval: { unit: 'year', length: 1 } })
    const { body } = await change(order, [{ plan: yearly }], { renewalPolicy })
    const began = Date.parse(String(body.currentPeriodStart))
    expect(body).toMatchObject({ rebillNumber: 2, lineItems: [] })
    expect(Math.abs(Date.now() - began)).toBeLessThan(60_000)
    expect((Date.parse(String(body.renewalTime)) - began) / DAY).toBeGreaterThanOrEqual(365)
    expect(await read(`invoices/${body.recentInvoiceId}`)).toMatchObject({
      type: 'renewal',
      amount,
      periodNumber: 2,
    })
  })

  test.each([
    ['that is charged at once', 10, 20, {}, near(5)],
    ['that is queued', 20, 10, {}, near(-5)],
    ['with a reset', 10, 20, { renewalPolicy: 'reset' }, near(15)],
    ['without proration', 10, 20, { prorated: false }, 0],
  ])('is shown as a preview %s, and no row is written', async (_, from, to, members, amount) => {
    const order = await begun(from)
    const tables = (
      await sql<{ name: string }>(
        `select table_name as name from information_schema.tables where table_schema = current_schema()
        and table_type = 'BASE TABLE' and table_name not in ('api_requests', 'rate_limits')`,
      )
    ).map(({ name }) => name)
    const count = async () =>
      Object.fromEntries(
        await Promise.all(
          tables.map(
            async (name) => [name, (await sql(`select count(*) as n from "${name}"`))[0]?.n] as const,
          ),
        ),
      )
    const before = await count()
    expect(tables).toEqual(expect.arrayContaining(['subscriptions', 'invoices', 'events', 'wake_ups']))
    const preview = await change(order, [{ plan: plan(to) }], { preview: true, ...members })
    expect(preview).toMatchObject({
      status: 201,
      body: { items: [{ plan: plan(to) }], lineItemSubtotal: { currency: 'EUR', amount } },
    })
    expect(await count()).toEqual(before)
    expect(await read(`subscriptions/${order.id}`)).toEqual(order)
    const made = await change(order, [{ plan: plan(to) }], members)
    expect(made.body.items).toMatchObject([{ plan: plan(to) }])
  })

  test('of a pending order prices its initial invoice anew', async () => {
    const startTime = new Date(Date.now() + DAY).toISOString()
    const order = await create(
      merchant.api,
      'subscriptions',
      orderBody(merchant, { items: [{ plan: plan(10) }], startTime }),
    )
    const { body } = await change(order, [{ plan: plan(20) }])
    expect(await read(`invoices/${body.initialInvoiceId}`)).toMatchObject({ status: 'draft', amount: 20 })
  })

  test('of a pending order to another currency is refused while it has a coupon of a fixed amount', async () => {
    const discount = { type: 'fixed', amount: 5, currency: 'EUR' }
    const { id: couponId } = await create(merchant.api, 'coupons', { discount })
    const startTime = new Date(Date.now() + DAY).toISOString()
    const members = { items: [{ plan: plan(20) }], startTime, couponIds: [couponId] }
    const order = await create(merchant.api, 'subscriptions', orderBody(merchant, members))
    const dollars = [{ plan: plan(30, { currency: 'USD' }) }]
    const refused = await change(order, dollars)
    expect(expectProblem(refused, 422, 'validation-error')).toEqual(['couponIds.0'])
    expect(await read(`subscriptions/${order.id}`)).toEqual(order)
    expect((await change(order, [{ plan: plan(30) }])).status).toBe(201)
    const percent = await create(merchant.api, 'coupons', { discount: { type: 'percent', value: 50 } })
    const now = await read(`subscriptions/${order.id}`)
    await merchant.api.put(`subscriptions/${order.id}`, { ...now, couponIds: [percent.id] })
    const { body } = await change(order, dollars)
    expect(await read(`invoices/${body.initialInvoiceId}`)).toMatchObject({ currency: 'USD', amount: 15 })
  })

  test('of a canceled order: 409, and nothing is written', async () => {
    const order = await begun(10)
    await create(merchant.api, 'subscription-cancellations', { subscriptionId: order.id })
    const canceled = await read(`subscriptions/${order.id}`)
    expectProblem(await change(order, [{ plan: plan(20) }]), 409, 'conflict')
    expectProblem(await change(order, [{ plan: plan(20) }], { preview: true }), 409, 'conflict')
    expect(await read(`subscriptions/${order.id}`)).toEqual(canceled)
  })

  test.each<[string, object, string]>([
    ['no items', { items: [] }, 'items'],
    ['an unknown plan', { items: [{ plan: { id: 'absent' } }] }, 'items.0.plan.id'],
    ['no policy', { renewalPolicy: undefined }, 'renewalPolicy'],
    ['a policy that is not supported yet', { renewalPolicy: 'retainTrialOnly' }, 'renewalPolicy'],
    ['no choice of proration', { prorated: undefined }, 'prorated'],
    ['another time', { effectiveTime: '2099-01-01T00:00:00Z' }, 'effectiveTime'],
    ['another currency', { items: [{ plan: plan(1, { currency: 'USD' }) }] }, 'items.0.plan.currency'],
    [
      'another period that is to begin later',
      { items: [{ plan: plan(1, { recurringInterval: { unit: 'year', length: 1 } }) }] },
      'items.0.plan.recurringInterval',
    ],
    [
      'a one-time sale that is to recur',
      { items: [{ plan: plan(1, { recurringInterval: null }) }], renewalPolicy: 'reset' },
      'items.0.plan.recurringInterval',
    ],
  ])('is refused by its field: %s', async (_, members, field) => {
    const order = await begun(10)
    const refused = await change(order, [{ plan: plan(20) }], members)
    expectProblem(refused, 422, 'validation-error')
    expect(refused.body.invalidFields).toMatchObject([{ field }])
    expect(await read(`subscriptions/${order.id}`)).toEqual(order)
  })

  test('of an unknown order: 404, whatever the body', async () => {
    expectProblem(await merchant.api.post('subscriptions/absent/change-items', {}), 404, 'not-found')
  })

  describe('a cancellation with proration', () => {
    test('credits the unused part of the period, and shows it', async () => {
      const order = await begun(10)
      const cancellation = await create(merchant.api, 'subscription-cancellations', {
        subscriptionId: order.id,
        prorated: true,
      })
      expect(cancellation).toMatchObject({
        status: 'completed',
        prorated: true,
        lineItems: [{ type: 'credit', unitPriceAmount: near(5), periodEndTime: order.renewalTime }],
        lineItemSubtotal: { currency: 'EUR', amount: near(-5) },
        proratedInvoiceId: order.initialInvoiceId,
      })
      const found = await merchant.api.get<Body[]>(
        'subscription-cancellations?filter=lineItemSubtotal.currency:eur;lineItemSubtotal.amount:-5.02..-4.98',
      )
      expect(found.body.map(({ id }) => id)).toContain(cancellation.id)
      expect(await read(`subscriptions/${order.id}`)).toMatchObject({ status: 'churned', lineItems: [] })
      const memos = (await merchant.api.get<Body[]>(`credit-memos?filter=customerId:${order.customerId}`))
        .body
      const memo = memos.find(({ description }) => String(description).includes(String(order.id)))
      expect(memo).toMatchObject({
        reason: 'order-cancellation',
        status: 'issued',
        number: expect.any(Number),
        items: [{ description: 'Unused time on Plan for 10', unitPrice: near(5) }],
        totalAmount: near(5),
        unusedAmount: near(5),
      })
      const created = await sql<{ payload: string }>(
        "select payload from events where entity_id = ? and type = 'credit-memo-created'",
        [memo?.id],
      )
      expect(created.map(({ payload }) => JSON.parse(payload))).toMatchObject([
        { creditMemoId: memo?.id, _embedded: { creditMemo: { number: memo?.number } } },
      ])
      expect(await timelineOf(order)).toContain('credit-memo-created')
      const put = await merchant.api.put(`subscription-cancellations/${cancellation.id}`, cancellation)
      expect(put).toMatchObject({ status: 200, body: { revision: cancellation.revision } })
      const inSeconds = JSON.parse(JSON.stringify(cancellation).replaceAll(/\.\d{3}Z"/g, 'Z"'))
      const again = await merchant.api.put(`subscription-cancellations/${cancellation.id}`, inSeconds)
      expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: cancellation })
      await create(merchant.api, 'subscription-reactivations', { subscriptionId: order.id })
      const reactivated = await read(`subscriptions/${order.id}`)
      expect(reactivated).toMatchObject({ status: 'active', lineItems: [] })
      expect(await read(`invoices/${reactivated.recentInvoiceId}`)).toMatchObject({
        amount: 10,
        amountDue: near(5),
        creditMemoAllocations: [{ amount: near(5) }],
      })
      expect(await read(`credit-memos/${memo?.id}`)).toMatchObject({ status: 'applied', unusedAmount: 0 })
    })

    test('credits what was paid, though the redemption that discounted it is canceled since', async () => {
      const { id: couponId } = await create(merchant.api, 'coupons', {
        discount: { type: 'percent', value: 50 },
      })
      const order = await begun(10, { couponIds: [couponId] })
      await merchant.api.put(`subscriptions/${order.id}`, { ...order, couponIds: [] })
      const changed = await change(order, [{ plan: plan(40) }])
      expect(await read(`invoices/${changed.body.recentInvoiceId}`)).toMatchObject({
        items: [
          { type: 'credit', price: near(2.5) },
          { type: 'debit', price: near(20) },
        ],
      })
      await merchant.api.post(`invoices/${changed.body.recentInvoiceId}/void`, {})
      expect(
        await create(merchant.api, 'subscription-cancellations', {
          subscriptionId: order.id,
          prorated: true,
        }),
      ).toMatchObject({ lineItemSubtotal: { amount: near(-2.5) } })
    })

    test('credits nothing before its churn time, and can be changed until then', async () => {
      const order = await begun(10)
      const cancellation = await create(merchant.api, 'subscription-cancellations', {
        subscriptionId: order.id,
        churnTimePolicy: 'at-next-renewal',
        prorated: true,
      })
      expect(cancellation).toMatchObject({ status: 'confirmed', prorated: true, lineItems: [] })
      const path = `subscription-cancellations/${cancellation.id}`
      const now = { ...cancellation, churnTimePolicy: 'now' }
      expect((await merchant.api.put(path, now)).body).toMatchObject({
        status: 'completed',
        lineItemSubtotal: { amount: near(-5) },
      })
    })
  })
})
