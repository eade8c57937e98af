import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Money, sumOf } from '../../billing/money.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'

const DAY = 86_400_000

// Without a worker: commands first advance an order to their own instant, and so find it begun.
describe('an order', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  type Body = Record<string, unknown>
  const later = (days: number) => new Date(Date.now() + days * DAY).toISOString()
  const make = (path: string, body: object) => create(merchant.api, path, body)
  const plan = async (members: object = {}) => {
    const { id } = await make('plans', {
      name: 'Plan',
      currency: 'EUR',
      pricing: { formula: 'flat-rate', price: 10 },
      recurringInterval: { unit: 'month', length: 1 },
      ...members,
    })
    return { plan: { id } }
  }
  const read = async (path: string) => (await merchant.api.get(path)).body
  const begun = async (items: object[], members: object = {}): Promise<{ order: Body; invoice: Body }> => {
    const { id } = await make('subscriptions', orderBody(merchant, { items, ...members }))
    const ahead = { subscriptionId: id, effectiveTime: later(800), endTime: later(900) }
    await make('subscription-pauses', ahead)
    const order = await read(`subscriptions/${id}`)
    return { order, invoice: await read(`invoices/${order.initialInvoiceId}`) }
  }
  const lines = ({ items }: Body) =>
    (items as { description: string; price: number; unitPrice: number; quantity: number }[]).map(
      ({ description, price, unitPrice, quantity }) => {
        expect(new Money(unitPrice).times(quantity).equals(price)).toBe(true)
        return [/^Shipping$|setup$|trial$/.exec(description)?.[0].toLowerCase() ?? 'plan', price]
      },
    )
  const daysOn = (order: Body, days: number) =>
    new Date(Date.parse(String(order.startTime)) + days * DAY).toISOString()
  const TRIAL = { price: 2, period: { unit: 'week', length: 1 } }

  describe('has the trial', () => {
    test.each([
      ['absent', {}],
      ['null', { trial: null }],
    ])('of its plans where its own is %s', async (_, members) => {
      const { order, invoice } = await begun([await plan({ trial: TRIAL })], members)
      expect(order).toMatchObject({
        inTrial: true,
        rebillNumber: 0,
        trial: null,
        renewalTime: daysOn(order, 7),
      })
      expect(lines(invoice)).toEqual([['trial', 2]])
    })

    test('it gives itself, which costs nothing on a plan that has none', async () => {
      const trial = { enabled: true, endTime: later(3) }
      const { order, invoice } = await begun([await plan()], { trial })
      expect(order).toMatchObject({ inTrial: true, rebillNumber: 0, trial, renewalTime: trial.endTime })
      expect(invoice).toMatchObject({ amount: 0, status: 'paid' })
    })

    test('it gives itself in place of that of its plans', async () => {
      const trial = { enabled: true, endTime: later(3) }
      const { order, invoice } = await begun([await plan({ trial: TRIAL })], { trial })
      expect(order).toMatchObject({ inTrial: true, renewalTime: trial.endTime })
      expect(lines(invoice)).toEqual([['trial', 2]])
    })

    test('not of its plans where it switches it off', async () => {
      const { order, invoice } = await begun([await plan({ trial: TRIAL, setup: { price: 5 } })], {
        trial: { enabled: false },
      })
      expect(order).toMatchObject({ inTrial: false, rebillNumber: 1 })
      expect(lines(invoice)).toEqual([
        ['setup', 5],
        ['plan', 10],
      ])
    })

    test('which plans must have alike, unless it gives one: 422', async () => {
      const items = [await plan({ trial: TRIAL }), await plan()]
      const other = await plan({ trial: { ...TRIAL, period: { unit: 'week', length: 2 } } })
      for (const mixed of [items, [items[0], other]]) {
        const response = await merchant.api.post('subscriptions', orderBody(merchant, { items: mixed }))
        expect(expectProblem(response, 422, 'validation-error')).toEqual(['items.1.plan.id'])
      }
      const { order } = await begun(items, { trial: { enabled: true, endTime: later(5) } })
      expect(order).toMatchObject({ inTrial: true })
    })

    test('alone where it says so, whatever the recurring settings', async () => {
      const recurringInterval = { unit: 'month', length: 1 }
      const { order } = await begun([await plan({ trial: TRIAL })], { isTrialOnly: true, recurringInterval })
      expect(order).toMatchObject({ isTrialOnly: true, inTrial: true, renewalTime: daysOn(order, 7) })
      const upcoming = await merchant.api.get(`subscriptions/${order.id}/upcoming-invoice`)
      expectProblem(upcoming, 404, 'not-found')
      const both = await begun([await plan({ trial: TRIAL })])
      expect(both.order).toMatchObject({ isTrialOnly: false })
      expect((await merchant.api.get(`subscriptions/${both.order.id}/upcoming-invoice`)).status).toBe(200)
    })
  })

  test.each([
    ['that does not recur', { recurringInterval: null }],
    ['that is for a trial only', { isTrialOnly: true }],
  ])('renews its other items without a plan with a trial %s', async (_, members) => {
    const items = [await plan({ trial: TRIAL }), await plan({ trial: TRIAL, ...members })]
    const { order, invoice } = await begun(items)
    expect(lines(invoice)).toEqual([
      ['trial', 2],
      ['trial', 2],
    ])
    expect(order).toMatchObject({ inTrial: true, renewalTime: daysOn(order, 7) })
    const upcoming = await merchant.api.get(`subscriptions/${order.id}/upcoming-invoice`)
    expect(lines(upcoming.body)).toEqual([['plan', 10]])
    const preview = await merchant.api.post('previews/orders', { websiteId: merchant.websiteId, items })
    expect(preview).toMatchObject({ status: 200, body: { recurringAmounts: { amount: 10 } } })
  })

  test('has the period of its plans, or its own', async () => {
    const item = await plan({ recurringInterval: { unit: 'week', length: 1 } })
    const plain = await begun([item], { recurringInterval: null })
    expect(plain.order).toMatchObject({ recurringInterval: null, renewalTime: daysOn(plain.order, 7) })
    const recurringInterval = { unit: 'day', length: 10, limit: 3 }
    const own = await begun([item], { recurringInterval })
    expect(own.order).toMatchObject({ recurringInterval, renewalTime: daysOn(own.order, 10) })
  })

  test('has a limit of its own with the period of its plans', async () => {
    const item = await plan({ recurringInterval: { unit: 'week', length: 1, limit: 3 } })
    const recurringInterval = { limit: 1 }
    const once = await begun([item], { recurringInterval })
    expect(once.order).toMatchObject({ rebillNumber: 1, renewalTime: null })
    expect(once.order.recurringInterval).toEqual(recurringInterval)
    expect(once.order.currentPeriodEnd).toBe(daysOn(once.order, 7))
    const kept = await merchant.api.put(`subscriptions/${once.order.id}`, once.order)
    expect(kept).toMatchObject({ status: 200, body: { revision: once.order.revision, recurringInterval } })
    const periodAnchorInstruction = { method: 'day-of-week', day: 'Monday', week: 'next' }
    const both = await begun([item], { recurringInterval: { limit: 1, periodAnchorInstruction } })
    expect(both.order).toMatchObject({ recurringInterval: { limit: 1, periodAnchorInstruction } })
    expect(both.order).toMatchObject({ rebillNumber: 1, renewalTime: null })
    expect(new Date(String(both.order.currentPeriodEnd)).getUTCDay()).toBe(1)
  })

  test('has plans of any limit beside its own, and of one limit without', async () => {
    const limited = (limit: number) => plan({ recurringInterval: { unit: 'week', length: 1, limit } })
    const items = [await limited(3), await limited(4)]
    const day = { periodAnchorInstruction: { method: 'day-of-month', day: 5 } }
    for (const recurringInterval of [null, day]) {
      const body = orderBody(merchant, { items, recurringInterval })
      const response = await merchant.api.post('subscriptions', body)
      expect(expectProblem(response, 422, 'validation-error')).toEqual(['items.1.plan.id'])
    }
    for (const given of [{}, day, { unit: 'month', length: 1 }]) {
      const { order } = await begun(items, { recurringInterval: { ...given, limit: 1 } })
      expect(order).toMatchObject({ rebillNumber: 1, renewalTime: null })
    }
  })

  test.each([
    ['of the month', { method: 'day-of-month', day: 5 }, (time: Date) => time.getUTCDate(), 5],
    [
      'of the week',
      { method: 'day-of-week', day: 'Monday', week: 'next' },
      (time: Date) => time.getUTCDay(),
      1,
    ],
  ])(
    'begins its periods on a day %s of its own, with the period of its plans or its own',
    async (_, periodAnchorInstruction, dayOf, day) => {
      const { length, ...period } = { unit: 'month', length: 1, limit: null, billingTiming: 'prepaid' }
      const item = await plan({
        recurringInterval: {
          ...period,
          length,
          periodAnchorInstruction: { method: 'day-of-month', day: 20 },
        },
      })
      for (const given of [{}, { ...period, length: 2 }]) {
        const recurringInterval = { ...given, periodAnchorInstruction }
        const { order } = await begun([item], { recurringInterval })
        expect(order).toMatchObject({ recurringInterval })
        expect(dayOf(new Date(String(order.renewalTime)))).toBe(day)
        const kept = await merchant.api.put(`subscriptions/${order.id}`, order)
        expect(kept).toMatchObject({ status: 200, body: { revision: order.revision } })
      }
    },
  )

  test('begins its periods on no day, whatever its plans say', async () => {
    const item = await plan({
      recurringInterval: {
        unit: 'week',
        length: 1,
        periodAnchorInstruction: { method: 'day-of-month', day: 20 },
      },
    })
    const recurringInterval = { periodAnchorInstruction: { method: 'immediately' } }
    const { order } = await begun([item], { recurringInterval })
    expect(order).toMatchObject({ recurringInterval, renewalTime: daysOn(order, 7) })
  })

  test('has no renewal time and nothing upcoming in the last period of its limit', async () => {
    const recurringInterval = { unit: 'day', length: 10, limit: 1 }
    const { order } = await begun([await plan()], { recurringInterval })
    expect(order).toMatchObject({ status: 'active', rebillNumber: 1, renewalTime: null })
    const upcoming = await merchant.api.get(`subscriptions/${order.id}/upcoming-invoice`)
    expectProblem(upcoming, 404, 'not-found')
  })

  test('costs a fixed fee once whatever the quantity, and a flat rate for each unit', async () => {
    const fixed = await plan({ pricing: { formula: 'fixed-fee', price: 9.9 } })
    const flat = await plan({ pricing: { formula: 'flat-rate', price: 9.9 } })
    const { invoice } = await begun([
      { ...fixed, quantity: 7 },
      { ...flat, quantity: 7 },
    ])
    expect(lines(invoice)).toEqual([
      ['plan', 9.9],
      ['plan', 69.3],
    ])
    expect(invoice).toMatchObject({ amount: 79.2 })
  })

  const BRACKETS = [
    { price: 5, maxQuantity: 10 },
    { price: 4, maxQuantity: 20 },
    { price: 3, maxQuantity: null },
  ]

  test.each([
    ['tiered', 10, 50, [['Plan', 5, 10]]],
    [
      'tiered',
      11,
      54,
      [
        ['Plan (units 1 to 10)', 5, 10],
        ['Plan (unit 11)', 4, 1],
      ],
    ],
    [
      'tiered',
      25,
      105,
      [
        ['Plan (units 1 to 10)', 5, 10],
        ['Plan (units 11 to 20)', 4, 10],
        ['Plan (units 21 to 25)', 3, 5],
      ],
    ],
    ['volume', 10, 50, [['Plan', 5, 10]]],
    ['volume', 11, 44, [['Plan', 4, 11]]],
    ['volume', 25, 75, [['Plan', 3, 25]]],
    ['stairstep', 10, 5, [['Plan (10 units)', 5, 1]]],
    ['stairstep', 11, 4, [['Plan (11 units)', 4, 1]]],
    ['stairstep', 25, 3, [['Plan (25 units)', 3, 1]]],
  ])('costs by brackets, %s, for %i: %d', async (formula, quantity, amount, items) => {
    const item = await plan({ pricing: { formula, brackets: BRACKETS } })
    const { invoice } = await begun([{ ...item, quantity }])
    expect(invoice).toMatchObject({ amount })
    expect(
      (invoice.items as Body[]).map(({ description, unitPrice, quantity: units }) => [
        description,
        unitPrice,
        units,
      ]),
    ).toEqual(items)
    expect(sumOf(lines(invoice).map(([, price]) => String(price)))).toBe(String(amount))
  })

  test.each([
    ['out of order', [BRACKETS[1], BRACKETS[0], BRACKETS[2]]],
    ['without an open end', BRACKETS.slice(0, 2)],
    ['with two open ends', [...BRACKETS, { price: 2, maxQuantity: null }]],
    ['none', []],
  ])('has no plan with brackets %s: 422', async (_, brackets) => {
    const pricing = { formula: 'tiered', brackets }
    const answer = await merchant.api.post('plans', { name: 'P', currency: 'EUR', pricing })
    const fields = expectProblem(answer, 422, 'validation-error')
    expect(fields.length).toBeGreaterThan(0)
    for (const field of fields) expect(field).toMatch(/^pricing\.brackets/)
  })

  test('costs setup and trial for each item, not for each unit, and setup on the first invoice alone', async () => {
    const item = await plan({ trial: TRIAL, setup: { price: 5 } })
    const { order, invoice } = await begun([{ ...item, quantity: 3 }, item])
    expect(lines(invoice).toSorted()).toEqual([
      ['setup', 5],
      ['setup', 5],
      ['trial', 2],
      ['trial', 2],
    ])
    const upcoming = await read(`subscriptions/${order.id}/upcoming-invoice`)
    expect(lines(upcoming)).toEqual([
      ['plan', 30],
      ['plan', 10],
    ])
  })

  test('has its shipping as a line of every invoice', async () => {
    const { order, invoice } = await begun([await plan()], { shipping: { amount: 2.5 } })
    expect(order.shipping).toEqual({ amount: 2.5, calculator: 'manual' })
    const upcoming = await read(`subscriptions/${order.id}/upcoming-invoice`)
    for (const one of [invoice, upcoming]) {
      expect(lines(one)).toEqual([
        ['plan', 10],
        ['shipping', 2.5],
      ])
    }
  })

  test('has invoices due as its plans say, or as it says itself', async () => {
    const shift = (days: number) => ({
      issueTimeShift: null,
      dueTimeShift: { chronology: 'after', duration: days, unit: 'day' },
    })
    const item = await plan({ invoiceTimeShift: shift(2) })
    const due = ({ invoice }: { invoice: Body }) =>
      (Date.parse(String(invoice.dueTime)) - Date.parse(String(invoice.issuedTime))) / DAY
    expect(due(await begun([item], { invoiceTimeShift: null }))).toBe(2)
    expect(due(await begun([item], { invoiceTimeShift: shift(5) }))).toBe(5)
    expect(due(await begun([await plan()])) * 24).toBeCloseTo(1)
  })

  test('with a time shift of its own still wants plans of one period: 422', async () => {
    const items = [await plan(), await plan({ recurringInterval: { unit: 'year', length: 1 } })]
    const dueTimeShift = { chronology: 'after', duration: 1, unit: 'day' }
    const body = orderBody(merchant, { items, invoiceTimeShift: { dueTimeShift } })
    const response = await merchant.api.post('subscriptions', body)
    expect(expectProblem(response, 422, 'validation-error')).toEqual(['items.1.plan.id'])
  })

  test.each([
    [
      'of a quantity',
      { invoiceTimeShift: { dueTimeShift: { chronology: 'before', duration: 1, unit: 'day' } } },
    ],
    [
      'in decades',
      { invoiceTimeShift: { dueTimeShift: { chronology: 'after', duration: 1, unit: 'decade' } } },
    ],
    ['of half a month', { recurringInterval: { unit: 'month', length: 0.5 } }],
    ['of no month', { recurringInterval: { unit: 'month', length: 0 } }],
    ['limited to nothing', { recurringInterval: { unit: 'month', length: 1, limit: 0 } }],
    [
      'on a day that is none',
      { recurringInterval: { periodAnchorInstruction: { method: 'day-of-month', day: 32 } } },
    ],
    [
      'postpaid without a period',
      {
        recurringInterval: {
          billingTiming: 'postpaid',
          periodAnchorInstruction: { method: 'day-of-month', day: 1 },
        },
      },
    ],
  ])('is refused with a period or shift %s: 422', async (_, members) => {
    const [member = ''] = Object.keys(members)
    const response = await merchant.api.post('subscriptions', orderBody(merchant, members))
    for (const field of expectProblem(response, 422, 'validation-error')) expect(field).toContain(member)
  })

  test('is billed exactly: decimals add up, in the database and outside', async () => {
    const price = async (amount: number) => await plan({ pricing: { formula: 'flat-rate', price: amount } })
    const items = [
      await price(0.1),
      { ...(await price(0.2)), quantity: 1 },
      { ...(await price(0.7)), quantity: 3 },
    ]
    const { invoice } = await begun(items)
    expect(lines(invoice)).toEqual([
      ['plan', 0.1],
      ['plan', 0.2],
      ['plan', 2.1],
    ])
    expect(invoice).toMatchObject({ amount: 2.4, amountDue: 2.4 })
    const [stored] = await service.database.orm.em
      .fork()
      .getConnection()
      .execute<{ type: string; amount: string }[]>(
        'select pg_typeof(amount)::text as type, amount::text from invoices where id = ?',
        [invoice.id],
      )
    expect(stored).toEqual({ type: 'numeric', amount: '2.400000' })
    const large = await begun([await price(999_999_999_999.99)])
    expect(large.invoice).toMatchObject({ amount: 999_999_999_999.99 })
    for (const wrong of [1e12, 0.001, -1]) {
      const pricing = { formula: 'flat-rate', price: wrong }
      const response = await merchant.api.post('plans', { name: 'P', currency: 'EUR', pricing })
      expect(expectProblem(response, 422, 'validation-error')).toEqual(['pricing.price'])
    }
  })

  test('is billed although its revenue of a month is more than an amount may be', async () => {
    const daily = await plan({
      currency: 'VND',
      pricing: { formula: 'flat-rate', price: 40_000_000_000 },
      recurringInterval: { unit: 'day', length: 1 },
    })
    const { order } = await begun([{ ...daily, quantity: 24 }])
    expect(order).toMatchObject({ status: 'active', mrr: 29_200_000_000_000 })
    const listed = await merchant.api.get<Body[]>(`subscriptions?filter=mrr:29200000000000;id:${order.id}`)
    expect(listed.body).toMatchObject([{ id: order.id }])
  })

  test('of more than the service can write down is refused: 422', async () => {
    const items = [
      { ...(await plan({ pricing: { formula: 'flat-rate', price: 999_999_999_999 } })), quantity: 2 },
    ]
    const response = await merchant.api.post('subscriptions', orderBody(merchant, { items }))
    expect(expectProblem(response, 422, 'validation-error')).toEqual(['items'])
  })

  test('shows another revision when the status of its invoice changes', async () => {
    const { order } = await begun([await plan()])
    await make(`invoices/${order.initialInvoiceId}/void`, {})
    const shown = await read(`subscriptions/${order.id}`)
    expect(shown).toMatchObject({ billingStatus: 'voided', revision: Number(order.revision) + 1 })
  })

  test('keeps a cancellation’s description of 255 characters, and no more', async () => {
    const { order } = await begun([await plan()])
    const cancel = (description: string) =>
      merchant.api.post('subscription-cancellations', { subscriptionId: order.id, description })
    expect(expectProblem(await cancel('x'.repeat(256)), 422, 'validation-error')).toEqual(['description'])
    expect((await cancel('x'.repeat(255))).status).toBe(201)
    expect(await read(`subscriptions/${order.id}`)).toMatchObject({ cancelDescription: 'x'.repeat(255) })
  })

  test('has one of nine statuses, and one of ten for its billing', async () => {
    const { body } = await merchant.api.get<{
      components: { schemas: Record<string, { properties: Record<string, { enum?: string[] }> }> }
    }>('/openapi.json')
    const choices = (member: string) =>
      body.components.schemas.Subscription?.properties[member]?.enum?.toSorted()
    expect(choices('status')).toEqual([
      'abandoned',
      'active',
      'canceled',
      'churned',
      'completed',
      'paused',
      'pending',
      'trial-ended',
      'voided',
    ])
    expect(choices('billingStatus')).toEqual([
      'abandoned',
      'disputed',
      'draft',
      'paid',
      'partially-paid',
      'partially-refunded',
      'past-due',
      'refunded',
      'unpaid',
      'voided',
    ])
  })

  test('is canceled by one of three, for one of eleven reasons', async () => {
    const { body } = await merchant.api.get<{
      components: { schemas: Record<string, { properties: Record<string, { enum?: string[] }> }> }
    }>('/openapi.json')
    const choices = (member: string) => body.components.schemas.Subscription?.properties[member]?.enum
    expect(choices('canceledBy')).toEqual(['merchant', 'customer', 'rebilly-side', null])
    expect(choices('cancelCategory')?.toSorted()).toEqual(
      [
        'billing-failure',
        'did-not-use',
        'did-not-want',
        'missing-features',
        'bugs-or-problems',
        'do-not-remember',
        'risk-warning',
        'contract-expired',
        'too-expensive',
        'never-started',
        'other',
        null,
      ].toSorted(),
    )
  })

  test('is listed: filtered, sorted, searched, paged and expanded', async () => {
    const other = await catalogue(service)
    const ids: string[] = []
    for (const poNumber of ['PO 3', 'PO 1', 'PO 2']) {
      const body = orderBody(other, { poNumber, startTime: later(1), notes: `for ${poNumber}` })
      ids.push(String((await other.api.post('subscriptions', body)).body.id))
    }
    const [three, one, two] = ids
    const list = async (query: string) => {
      const { body, headers } = await other.api.get<Body[]>(`subscriptions?${query}`)
      return { ids: body.map(({ id }) => id), total: headers.get('pagination-total'), body }
    }
    expect(await list('sort=poNumber')).toMatchObject({ ids: [one, two, three], total: '3' })
    expect(await list('sort=-poNumber&limit=1&offset=1')).toMatchObject({ ids: [two], total: '3' })
    expect(await list('filter=poNumber:po 1,po 3;status:pending;autopay:true&sort=id')).toMatchObject({
      ids: [three, one],
    })
    expect(await list('filter=status:active')).toMatchObject({ ids: [], total: '0' })
    expect(await list('q=FOR po 2')).toMatchObject({ ids: [two], total: '1' })
    const expanded = await list('limit=1&expand=customer,initialInvoice')
    expect(expanded.body[0]?._embedded).toMatchObject({
      customer: { id: other.customerId },
      initialInvoice: { status: 'draft' },
    })
  })
})
