import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'

const DAY = 86_400_000
const CONTACT = {
  firstName: 'Ada',
  lastName: 'Lovelace',
  organization: null,
  address: '1 Main Street',
  address2: null,
  city: 'Berlin',
  region: null,
  country: 'DE',
  postalCode: '10115',
  phoneNumbers: [{ label: 'home', value: '+49 30 1', primary: true }],
  emails: [{ label: null, value: 'ada@example.com', primary: false }],
  dob: '1990-12-10',
  jobTitle: null,
}
const RISK = {
  ipAddress: '203.0.113.7',
  fingerprint: 'device 1',
  httpHeaders: { 'User-Agent': 'Browser' },
  browserData: {
    colorDepth: 24,
    isJavaEnabled: false,
    language: 'de',
    screenWidth: 1920,
    screenHeight: 1080,
    timeZoneOffset: 300,
    isAdBlockEnabled: null,
  },
  extraData: { tool: 'session' },
}

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
  const sql = <T = Body>(text: string, values: unknown[] = []) =>
    service.database.orm.em.fork().getConnection().execute<T[]>(text, values)
  const make = (path: string, body: object) => create(merchant.api, path, body)
  const place = (members: object = {}) => make('subscriptions', orderBody(merchant, members))
  const read = async (id: unknown) => (await merchant.api.get(`subscriptions/${id}`)).body
  const put = (body: Body, members: object = {}, headers: Record<string, string> = {}) =>
    merchant.api.put(`subscriptions/${body.id}`, { ...body, ...members }, headers)
  const instrument = async (customerId: string, riskMetadata: object | null = null): Promise<string> => {
    const { id } = await make('tokens', {
      method: 'payment-card',
      paymentInstrument: { pan: '4111111111111111', cvv: '123', expMonth: 12, expYear: 2090 },
      riskMetadata,
    })
    return String((await make('payment-instruments', { customerId, token: id })).id)
  }

  const STATES: Readonly<Record<string, (members?: object) => Promise<Body>>> = {
    pending: (members = {}) => place({ startTime: later(1), ...members }),
    async active(members = {}) {
      const { id } = await place(members)
      const ahead = { subscriptionId: id, effectiveTime: later(1), endTime: later(2) }
      await make('subscription-pauses', ahead)
      return await read(id)
    },
    async paused(members = {}) {
      const { id } = await place(members)
      await make('subscription-pauses', { subscriptionId: id })
      return await read(id)
    },
    async canceled(members = {}) {
      const { id } = await place(members)
      await make('subscription-cancellations', { subscriptionId: id, churnTime: later(3) })
      return await read(id)
    },
    async churned(members = {}) {
      const { id } = await place(members)
      await make('subscription-cancellations', { subscriptionId: id })
      return await read(id)
    },
    async voided(members = {}) {
      const { id } = await place({ startTime: later(1), ...members })
      await merchant.api.post(`subscriptions/${id}/void`, {})
      return await read(id)
    },
  }
  const inState = async (state: string, members: object = {}): Promise<Body> => {
    const order = await STATES[state]?.(members)
    expect(order).toMatchObject({ status: state })
    return order ?? {}
  }

  const FREE = {
    autopay: false,
    deliveryAddress: CONTACT,
    billingAddress: { ...CONTACT, city: 'Hamburg' },
    poNumber: 'PO 7',
    notes: 'By the door.',
    customFields: { a: { b: [1, null] } },
    riskMetadata: RISK,
  }

  test('keeps what it is given, and what comes back can be sent back', async () => {
    const usageLimits = { softLimit: { quantity: 5 }, hardLimit: { quantity: 9 } }
    const items = [{ plan: { id: merchant.planId }, quantity: 3, quantityFilled: 2, usageLimits }]
    const placed = await place({ ...FREE, items, startTime: later(1) })
    expect(placed).toMatchObject({ ...FREE, items: [{ ...items[0], planId: merchant.planId }] })
    for (const member of ['deliveryAddress', 'billingAddress']) {
      expect(placed[member]).toEqual({
        ...((FREE as Body)[member] as object),
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      })
    }
    expect(await read(placed.id)).toEqual(placed)
    expect((await put(placed)).body).toEqual(placed)
    const found = await merchant.api.get<Body[]>(
      `subscriptions?filter=billingAddress.city:hamburg;riskMetadata.ipAddress:203.0.113.7;id:${placed.id}`,
    )
    expect(found.body).toEqual([placed])
  })

  test('keeps usage limits, which have no effect, because no plan is metered', async () => {
    const usageLimits = {
      softLimit: { quantity: 1, amount: 1 },
      hardLimit: { quantity: 2, amount: 2 },
      trialLimit: 0,
    }
    const sold = async (limits: object | null) => {
      const item = { plan: { id: merchant.planId }, quantity: 5, usageLimits: limits }
      const { id } = await inState('active', { items: [item] })
      const more = await put(await read(id), { items: [{ ...item, quantity: 50 }] })
      expect(more).toMatchObject({ status: 200, body: { items: [{ quantity: 50, usageLimits: limits }] } })
      const emitted = await sql<{ type: string }>(
        'select type from events where organization_id = ? and payload like ? order by position',
        [merchant.organizationId, `%${id}%`],
      )
      const { status, billingStatus, mrr } = more.body
      return { status, billingStatus, mrr, emitted: emitted.map(({ type }) => type) }
    }
    const limited = await sold(usageLimits)
    expect(limited.emitted).toContain('subscription-modified')
    expect(limited).toEqual(await sold(null))
  })

  test('has defaults for what it is not given, and answers every member', async () => {
    const placed = await place({ startTime: later(1) })
    expect(placed).toMatchObject({
      orderId: placed.id,
      organizationId: merchant.organizationId,
      autopay: true,
      isTrialOnly: false,
      trial: null,
      recurringInterval: null,
      invoiceTimeShift: null,
      delinquencyPeriod: null,
      paymentInstrumentId: null,
      deliveryAddress: null,
      billingAddress: null,
      riskMetadata: null,
      shipping: null,
      poNumber: null,
      notes: null,
      customFields: {},
      lineItems: [],
      lineItemSubtotal: { currency: 'EUR', amount: 0 },
      billingPortalToken: null,
      items: [
        {
          id: expect.stringMatching(/^item_/),
          plan: { id: merchant.planId },
          planId: merchant.planId,
          quantity: 1,
          quantityFilled: 0,
          usageLimits: null,
          revision: 1,
          isModified: false,
          isGrandfathered: false,
          _embedded: {},
        },
      ],
    })
  })

  test('ignores what it computes, whatever is sent for it', async () => {
    const computed = {
      id: 'another',
      orderId: 'another',
      organizationId: 'another',
      status: 'completed',
      billingStatus: 'paid',
      inTrial: 'yes',
      isTrialConverted: true,
      churnTime: 'never',
      rebillNumber: -1,
      lineItems: [1],
      lineItemSubtotal: null,
      currency: 'XXX',
      initialInvoiceId: 7,
      recentInvoiceId: 7,
      activationTime: later(1),
      voidTime: later(1),
      canceledBy: 'rebilly-side',
      cancelCategory: 'bugs-or-problems',
      cancelDescription: 'x'.repeat(300),
      billingPortalToken: 'secret',
      clockOffset: 9,
      revision: 9,
      createdTime: 'never',
      updatedTime: 'never',
      _links: 'none',
      _embedded: { customer: null },
    }
    const startTime = later(1)
    const [plain, told] = [await place({ startTime }), await place({ startTime, ...computed })]
    const own = [
      'id',
      'orderId',
      'items',
      'initialInvoiceId',
      'recentInvoiceId',
      'createdTime',
      'updatedTime',
      '_links',
    ]
    const same = (order: Body) =>
      Object.fromEntries(Object.entries(order).filter(([name]) => !own.includes(name)))
    expect(same(told)).toEqual(same(plain))
    expect(told).toMatchObject({
      id: expect.stringMatching(/^sub_/),
      orderId: told.id,
      initialInvoiceId: expect.stringMatching(/^in_/),
      recentInvoiceId: told.initialInvoiceId,
      createdTime: expect.stringMatching(/Z$/),
      updatedTime: told.createdTime,
      items: [
        { id: expect.stringMatching(/^item_/), revision: 1, isModified: false, isGrandfathered: false },
      ],
    })
    const [item] = told.items as Body[]
    const computedItem = {
      id: 'another',
      revision: 9,
      isModified: true,
      isGrandfathered: 'so',
      _embedded: null,
    }
    const response = await put(told, { ...computed, items: [{ ...item, ...computedItem }] })
    expect({ status: response.status, body: response.body }).toEqual({ status: 200, body: told })
  })

  test.each([
    ['coupons in a text', { couponIds: 'c' }, 'couponIds'],
    ['a coupon without an id', { couponIds: [''] }, 'couponIds.0'],
    ['reminders', { reminders: {} }, 'reminders'],
    [
      'an inline plan without currency',
      { items: [{ plan: { id: 'p', name: 'Own' } }] },
      'items.0.plan.currency',
    ],
    ['no items', { items: [] }, 'items'],
    ['nothing said of items', { items: undefined }, 'items'],
    ['an item without a plan', { items: [{ quantity: 1 }] }, 'items.0.plan'],
    ['a quantity of nothing', { items: [{ plan: { id: 'p' }, quantity: 0 }] }, 'items.0.quantity'],
    ['a quantity of a half', { items: [{ plan: { id: 'p' }, quantity: 1.5 }] }, 'items.0.quantity'],
    [
      'less than nothing filled',
      { items: [{ plan: { id: 'p' }, quantityFilled: -1 }] },
      'items.0.quantityFilled',
    ],
    [
      'a limit in words',
      { items: [{ plan: { id: 'p' }, usageLimits: { softLimit: 'much' } }] },
      'items.0.usageLimits.softLimit',
    ],
    ['a country in words', { billingAddress: { country: 'Germany' } }, 'billingAddress.country'],
    ['an address of nowhere', { riskMetadata: { ipAddress: 'here' } }, 'riskMetadata.ipAddress'],
    ['another kind of order', { orderType: 'one-time' }, 'orderType'],
    ['no kind of order', { orderType: undefined }, 'orderType'],
    ['no customer', { customerId: undefined }, 'customerId'],
    ['no website', { websiteId: undefined }, 'websiteId'],
    ['notes of 1001 characters', { notes: 'x'.repeat(1001) }, 'notes'],
    ['a calculator of its own', { shipping: { amount: 1, calculator: 'auto' } }, 'shipping.calculator'],
  ])('is refused with %s: 422', async (_, members, field) => {
    const response = await merchant.api.post('subscriptions', orderBody(merchant, members))
    expect(expectProblem(response, 422, 'validation-error')).toContain(field)
  })

  test.each([
    ['null', { startTime: null }],
    ['absent', {}],
  ])('whose startTime is %s starts now', async (_, members) => {
    const before = Date.now()
    const placed = await place(members)
    const startTime = Date.parse(String(placed.startTime))
    expect(startTime).toBeGreaterThanOrEqual(before)
    expect(startTime).toBeLessThanOrEqual(Date.now())
    expect(placed.startTime).toBe(placed.createdTime)
  })

  test('is created by PUT under an id of the caller, then changed by it, each with what it expands', async () => {
    const path = 'subscriptions/own~order@1.x'
    const expand = '?expand=customer,website'
    const embedded = { customer: { id: merchant.customerId }, website: { id: merchant.websiteId } }
    const body = orderBody(merchant, { startTime: later(1), notes: 'first' })
    const made = await merchant.api.put(`${path}${expand}`, body)
    expect(made.status).toBe(201)
    expect(made.headers.get('location')).toBe(
      `${service.baseUrl}/organizations/${merchant.organizationId}/subscriptions/own~order%401.x`,
    )
    expect(made.body).toMatchObject({ id: 'own~order@1.x', notes: 'first', revision: 1, _embedded: embedded })
    const changed = await merchant.api.put(`${path}${expand}`, { ...body, notes: 'second' })
    expect(changed.status).toBe(200)
    expect(changed.headers.get('location')).toBeNull()
    expect(changed.body).toMatchObject({ notes: 'second', revision: 2, _embedded: embedded })
  })

  test('has a line item subtotal in its currency: zero of a new order, and by the contract of either sign', async () => {
    const placed = await place({ startTime: later(1), lineItemSubtotal: { currency: 'USD', amount: -5 } })
    expect(placed.lineItemSubtotal).toEqual({ currency: placed.currency, amount: 0 })
    const { body } = await merchant.api.get<{
      components: { schemas: Record<string, object> }
    }>('/openapi.json')
    const ajv = new Ajv2020({ strict: false, formats: { double: true } })
    const fits = ajv.compile(body.components.schemas.SubscriptionLineItemSubtotal ?? false)
    for (const amount of [0, 12.5, -12.5]) expect(fits({ currency: 'EUR', amount })).toBe(true)
    expect(fits({ amount: 1 })).toBe(false)
  })

  test('still takes the deprecated planId of an item; where both are given, plan holds', async () => {
    const { id: other } = await make('plans', {
      name: 'Other',
      currency: 'EUR',
      pricing: { formula: 'fixed-fee', price: 1 },
    })
    const old = await place({ items: [{ planId: other }] })
    expect(old).toMatchObject({ items: [{ plan: { id: other }, planId: other }] })
    const both = await place({ items: [{ planId: 'none', plan: { id: other } }] })
    expect(both).toMatchObject({ items: [{ plan: { id: other }, planId: other }] })
    const unknown = await merchant.api.post(
      'subscriptions',
      orderBody(merchant, { items: [{ planId: 'none' }] }),
    )
    expect(expectProblem(unknown, 422, 'validation-error')).toEqual(['items.0.plan.id'])
  })

  test('keeps its plans as priced: an item is grandfathered once its plan has changed', async () => {
    const plan = await make('plans', {
      name: 'Monthly',
      currency: 'EUR',
      pricing: { formula: 'fixed-fee', price: 5 },
      recurringInterval: { unit: 'month', length: 1 },
    })
    const items = [{ plan: { id: plan.id } }]
    const placed = await place({ items, startTime: later(1) })
    await merchant.api.put(`plans/${plan.id}`, { ...plan, pricing: { formula: 'fixed-fee', price: 50 } })

    const [item] = placed.items as Body[]
    const grandfathered = { ...placed, items: [{ ...item, isGrandfathered: true }] }
    expect(await read(placed.id)).toEqual(grandfathered)
    // What it shows has changed without a revision of its own: a copy from before is not the same.
    const conditional = { 'If-None-Match': `"${placed.revision}"` }
    const again = await merchant.api.get(`subscriptions/${placed.id}`, conditional)
    expect(again).toMatchObject({ status: 200, body: grandfathered })
    expect((await merchant.api.get<Body[]>(`subscriptions?filter=id:${placed.id}`)).body).toEqual([
      grandfathered,
    ])
    expect((await merchant.api.get(`invoices/${placed.initialInvoiceId}`)).body).toMatchObject({ amount: 5 })
    const changed = await put(placed, { notes: 'Changed.' })
    expect(changed.body).toMatchObject({ items: [{ isGrandfathered: true }], revision: 2 })
    const [event] = await sql<{ payload: string }>(
      `select payload from events where type = 'subscription-modified' and entity_id = ?`,
      [placed.id],
    )
    expect(JSON.parse(event?.payload ?? '')).toMatchObject({
      _embedded: { subscription: { items: [{ isGrandfathered: true }] } },
    })
    const fresh = await place({ items, startTime: later(1) })
    expect(fresh).toMatchObject({ items: [{ isGrandfathered: false }] })
    expect(await read(fresh.id)).toEqual(fresh)
  })

  test('counts the changes of an item, and keeps its id', async () => {
    const placed = await place({ startTime: later(1) })
    const [item] = placed.items as Body[]
    const more = await put(placed, { items: [{ ...item, quantity: 2 }] })
    expect(more.body.items).toEqual([{ ...item, quantity: 2, revision: 2 }])
    const filled = await put(more.body, { items: [{ plan: item?.plan, quantity: 2, quantityFilled: 1 }] })
    expect(filled.body.items).toEqual([{ ...item, quantity: 2, quantityFilled: 1, revision: 3 }])
    expect((await put(filled.body)).body).toEqual(filled.body)
  })

  test('derives of the risk what its own rows tell, once', async () => {
    await make('tokens', {
      method: 'payment-card',
      paymentInstrument: { expMonth: 12, expYear: 2090 },
      riskMetadata: { ipAddress: '203.0.113.99' },
    })
    const riskMetadata = { ...RISK, ipAddress: '203.0.113.99', fingerprint: 'never seen' }
    const placed = await place({ startTime: later(1), riskMetadata, billingAddress: CONTACT })
    expect(placed.riskMetadata).toMatchObject({
      ...riskMetadata,
      hasMismatchedTimeZone: true,
      ipVelocity: 1,
      deviceVelocity: 0,
      isProxy: null,
      score: null,
    })
    await make('tokens', {
      method: 'payment-card',
      paymentInstrument: { expMonth: 12, expYear: 2090 },
      riskMetadata: { ipAddress: '203.0.113.99' },
    })
    expect((await put(placed)).body).toEqual(placed)
    const other = await put(placed, { riskMetadata: { ...riskMetadata, fingerprint: 'other' } })
    expect(other.body.riskMetadata).toMatchObject({ fingerprint: 'other', ipVelocity: 2 })
  })

  test('without risk metadata takes what was captured with the token of the card it is charged by', async () => {
    const customer = await make('customers', {})
    const customerId = String(customer.id)
    const [named, standing] = [
      await instrument(customerId, { ...RISK, fingerprint: 'named' }),
      await instrument(customerId, { ...RISK, fingerprint: 'default' }),
    ]
    const defaultPaymentInstrument = { method: 'payment-card', paymentInstrumentId: standing }
    await merchant.api.put(`customers/${customerId}`, { defaultPaymentInstrument })
    const startTime = later(1)
    const body = { customerId, startTime }
    expect(await place({ ...body, paymentInstrumentId: named })).toMatchObject({
      riskMetadata: { fingerprint: 'named', ipAddress: RISK.ipAddress },
    })
    const placed = await place({ ...body, riskMetadata: null })
    expect(placed).toMatchObject({ riskMetadata: { fingerprint: 'default' } })
    const told = await put(placed, { riskMetadata: RISK })
    expect(told.body).toMatchObject({ riskMetadata: { fingerprint: 'device 1' } })
    const again = await put(told.body, { riskMetadata: null, paymentInstrumentId: named })
    expect(again.body).toMatchObject({ riskMetadata: { fingerprint: 'named' } })
    const bare = await instrument(customerId)
    expect(
      (await put(again.body, { riskMetadata: null, paymentInstrumentId: bare })).body.riskMetadata,
    ).toBeNull()
  })

  test('its purchase order number and notes stand on its invoices, on a draft as soon as they change', async () => {
    const placed = await place({ startTime: later(1), poNumber: 'PO 1', notes: 'First.' })
    const draft = `invoices/${placed.initialInvoiceId}`
    expect((await merchant.api.get(draft)).body).toMatchObject({
      status: 'draft',
      poNumber: 'PO 1',
      notes: 'First.',
    })
    await put(placed, { poNumber: 'PO 2', notes: 'Second.' })
    expect((await merchant.api.get(draft)).body).toMatchObject({
      poNumber: 'PO 2',
      notes: 'Second.',
      revision: 2,
    })
    const told = await sql<{ type: string }>('select type from events where entity_id = ? order by id', [
      placed.initialInvoiceId,
    ])
    expect(told.map(({ type }) => type)).toEqual(['invoice-created', 'invoice-modified'])
    const active = await inState('active', { poNumber: 'PO 3' })
    await put(active, { poNumber: 'PO 4' })
    expect((await merchant.api.get(`invoices/${active.initialInvoiceId}`)).body).toMatchObject({
      poNumber: 'PO 3',
    })
  })

  test('expands its customer’s lead source and the instrument it is charged by', async () => {
    const leadSource = { medium: 'email', source: 'newsletter' }
    const customerId = String((await make('customers', { leadSource })).id)
    const [named, standing] = [await instrument(customerId), await instrument(customerId)]
    const expand = 'expand=leadSource,paymentInstrument,shippingRate'
    const embedded = async (id: unknown) =>
      (await merchant.api.get<Body>(`subscriptions/${id}?${expand}`)).body._embedded
    const body = orderBody(merchant, { customerId, startTime: later(1) })
    const plain = await merchant.api.post<Body>(`subscriptions?${expand}`, body)
    expect(plain.body._embedded).toEqual({
      leadSource: expect.objectContaining({ ...leadSource, referrer: null }),
      paymentInstrument: null,
      shippingRate: null,
    })
    const defaultPaymentInstrument = { method: 'payment-card', paymentInstrumentId: standing }
    await merchant.api.put(`customers/${customerId}`, { leadSource, defaultPaymentInstrument })
    expect(await embedded(plain.body.id)).toMatchObject({ paymentInstrument: { id: standing } })
    const own = await place({ customerId, startTime: later(1), paymentInstrumentId: named })
    expect(await embedded(own.id)).toMatchObject({ paymentInstrument: { id: named } })
    await sql(`update payment_instruments set status = 'inactive' where id = ?`, [named])
    expect(await embedded(own.id)).toMatchObject({ paymentInstrument: { id: standing } })
    const changed = await merchant.api.put<Body>(`subscriptions/${own.id}?${expand}`, own)
    expect(changed.body._embedded).toMatchObject({ leadSource })
  })

  describe('changed by PUT', () => {
    const states = Object.keys(STATES)

    test.each(states)(
      '%s: instrument, autopay, addresses, notes, fields and risk are free',
      async (state) => {
        const customerId = String((await make('customers', {})).id)
        const order = await inState(state, { customerId })
        const paymentInstrumentId = await instrument(customerId)
        const response = await put(order, { ...FREE, paymentInstrumentId })
        expect({ status: response.status, body: response.body }).toMatchObject({
          status: 200,
          body: { ...FREE, paymentInstrumentId, status: state, revision: Number(order.revision) + 1 },
        })
      },
    )

    test.each(states)('%s: customer and website stay: 409', async (state) => {
      const order = await inState(state)
      for (const [member, path] of [
        ['customerId', 'customers'],
        ['websiteId', 'websites'],
      ] as const) {
        const { id } = await make(path, { ...(path === 'websites' ? { name: 'Other' } : {}) })
        expectProblem(await put(order, { [member]: id }), 409, 'conflict')
      }
      expect(await read(order.id)).toEqual(order)
    })

    const START: [string, object][] = [
      ['startTime', { startTime: later(2) }],
      ['trial', { trial: { enabled: true, endTime: later(9) } }],
      ['recurringInterval', { recurringInterval: { unit: 'month', length: 1, limit: 7 } }],
      ['abandonTime', { abandonTime: later(20) }],
    ]

    test.each(START)('pending: %s is free, and absent leaves it', async (member, members) => {
      const order = await inState('pending')
      const response = await put(order, members)
      expect({ status: response.status, body: response.body }).toMatchObject({ status: 200, body: members })
      const { [member]: _, ...without } = response.body
      expect((await merchant.api.put(`subscriptions/${order.id}`, without)).body).toEqual(response.body)
    })

    test.each(START.slice(1, 3))(
      'pending: %s of null returns to that of the plans',
      async (member, members) => {
        const order = await inState('pending', members)
        expect(order).toMatchObject(members)
        expect((await put(order, { [member]: null })).body).toMatchObject({ [member]: null, revision: 2 })
      },
    )

    test('pending: startTime of null is now, and the order begins', async () => {
      const order = await inState('pending')
      const before = Date.now()
      const response = await put(order, { startTime: null })
      expect(response.status).toBe(200)
      const startTime = Date.parse(String(response.body.startTime))
      expect(startTime).toBeGreaterThanOrEqual(before)
      expect(startTime).toBeLessThanOrEqual(Date.now())
      const begun = await put(response.body, { notes: 'Begun.' })
      expect(begun.body).toMatchObject({ status: 'active', startTime: response.body.startTime })
    })

    test('pending: abandonTime of null leaves it', async () => {
      const order = await inState('pending', { abandonTime: later(20) })
      expect((await put(order, { abandonTime: null })).body).toEqual(order)
    })

    test('an instant that comes back without its milliseconds is no change', async () => {
      const startTime = new Date(Date.now() - 2_000).toISOString().replace(/\d{3}Z$/, '123Z')
      const order = await inState('active', { startTime })
      const whole = (text: unknown) => String(text).replace(/\.\d{3}Z$/, 'Z')
      expect(order.renewalTime).toMatch(/\.123Z$/)
      const cut = { startTime: whole(order.startTime), renewalTime: whole(order.renewalTime) }
      const response = await put(order, cut)
      expect({ status: response.status, body: response.body }).toEqual({ status: 200, body: order })
    })

    test('pending: isTrialOnly is free with a trial, and absent leaves it', async () => {
      const order = await inState('pending', { trial: { enabled: true, endTime: later(9) } })
      const response = await put(order, { isTrialOnly: true })
      expect(response.body).toMatchObject({ isTrialOnly: true })
      const { isTrialOnly: _, ...without } = response.body
      expect((await merchant.api.put(`subscriptions/${order.id}`, without)).body).toEqual(response.body)
    })

    test.each(
      states
        .filter((state) => state !== 'pending')
        .flatMap((state) => START.map(([member, members]) => [state, member, members] as const)),
    )('%s: %s stays: 409, and absent or null leaves it', async (state, member, members) => {
      const order = await inState(state)
      expectProblem(await put(order, members), 409, 'conflict')
      const { [member]: _, ...without } = order
      for (const sent of [without, { ...order, [member]: null }]) {
        expect((await merchant.api.put(`subscriptions/${order.id}`, sent)).body).toEqual(order)
      }
    })

    const FROM_NEXT_INVOICE: [string, object][] = [
      ['items', { items: [] }],
      ['shipping', { shipping: { amount: 3, calculator: 'manual' } }],
      ['delinquencyPeriod', { delinquencyPeriod: 'P9D' }],
      [
        'invoiceTimeShift',
        {
          invoiceTimeShift: {
            issueTimeShift: null,
            dueTimeShift: { chronology: 'after', duration: 2, unit: 'day' },
          },
        },
      ],
    ]
    const given = (order: Body, member: string, members: object) =>
      member === 'items' ? { items: [{ ...(order.items as Body[])[0], quantity: 4 }] } : members

    test.each(
      ['pending', 'active', 'paused'].flatMap((state) =>
        FROM_NEXT_INVOICE.map(([member, members]) => [state, member, members] as const),
      ),
    )('%s: %s can be changed', async (state, member, members) => {
      const order = await inState(state)
      const change = given(order, member, members)
      const response = await put(order, change)
      expect(response.status).toBe(200)
      expect(response.body).toMatchObject(member === 'items' ? { items: [{ quantity: 4 }] } : change)
      const invoice = (await merchant.api.get(`invoices/${order.initialInvoiceId}`)).body
      if (state !== 'pending') expect(invoice).toMatchObject({ amount: 9.9, delinquencyTime: null })
    })

    test.each(
      ['canceled', 'churned', 'voided'].flatMap((state) =>
        FROM_NEXT_INVOICE.map(([member, members]) => [state, member, members] as const),
      ),
    )('%s: %s stays: 409', async (state, member, members) => {
      const order = await inState(state)
      expectProblem(await put(order, given(order, member, members)), 409, 'conflict')
      expect(await read(order.id)).toEqual(order)
    })

    test.each(['pending', 'canceled', 'churned', 'voided'])('%s: renewalTime is ignored', async (state) => {
      const order = await inState(state)
      const headers = { 'If-Match': `"${order.revision}"` }
      const response = await put(order, { renewalTime: later(12) }, headers)
      expect({ status: response.status, body: response.body }).toEqual({ status: 200, body: order })
    })

    test.each([
      ['startTime', { startTime: later(-40) }, 'startTime'],
      ['abandonTime', { abandonTime: later(-1) }, 'abandonTime'],
      ['trial', { trial: { enabled: true, endTime: later(-1) } }, 'trial.endTime'],
      ['trial without an end', { trial: { enabled: true } }, 'trial.endTime'],
      ['trial alone without a trial', { isTrialOnly: true }, 'isTrialOnly'],
      ['delinquency of nothing', { delinquencyPeriod: 'P0D' }, 'delinquencyPeriod'],
    ])(
      'pending: a new %s that cannot be is refused, and nothing is written: 422',
      async (_, members, field) => {
        const order = await inState('pending')
        expect(expectProblem(await put(order, members), 422, 'validation-error')).toEqual([field])
        expect(await read(order.id)).toEqual(order)
      },
    )

    const planned = async (members: object) => {
      const { id } = await make('plans', {
        name: 'Other',
        currency: 'EUR',
        pricing: { formula: 'fixed-fee', price: 500 },
        ...members,
      })
      return { items: [{ plan: { id } }] }
    }
    const MONTHLY = { recurringInterval: { unit: 'month', length: 1 } }
    const YEN = { currency: 'JPY', ...MONTHLY }

    test('pending: plans of another currency take the order and its draft invoice with them', async () => {
      const order = await inState('pending', { shipping: { amount: 2, calculator: 'manual' } })
      const response = await put(order, await planned(YEN))
      expect({ status: response.status, body: response.body }).toMatchObject({
        status: 200,
        body: { currency: 'JPY', lineItemSubtotal: { currency: 'JPY' } },
      })
      expect((await merchant.api.get(`invoices/${order.initialInvoiceId}`)).body).toMatchObject({
        currency: 'JPY',
        amount: 502,
        status: 'draft',
      })
      const cents = await put(response.body, { shipping: { amount: 2.5, calculator: 'manual' } })
      expect(expectProblem(cents, 422, 'validation-error')).toEqual(['shipping.amount'])
    })

    test('pending with an invoice that is issued: its currency stays: 422', async () => {
      const customerId = String((await make('customers', {})).id)
      const placed = await place({ customerId, paymentInstrumentId: await instrument(customerId) })
      const order = (await put(placed, { notes: 'Now due.' })).body
      expect(order).toMatchObject({ status: 'pending', billingStatus: 'unpaid' })
      const response = await put(order, await planned(YEN))
      expect(expectProblem(response, 422, 'validation-error')).toEqual(['items.0.plan.id'])
      expect(await read(order.id)).toEqual(order)
    })

    const TRIAL = { trial: { price: 1, period: { unit: 'week', length: 1 } } }
    test.each([
      ['a trial alone', TRIAL, 'a one-time sale', {}],
      ['a one-time sale', {}, 'a trial alone', TRIAL],
      ['a one-time sale', {}, 'a lasting order', MONTHLY],
      ['a lasting order', MONTHLY, 'a one-time sale', {}],
    ])('active: %s stays what it is: 422', async (_, kind, __, other) => {
      const order = await inState('active', await planned(kind))
      const response = await put(order, await planned(other))
      expect(expectProblem(response, 422, 'validation-error')).toEqual(['items.0.plan.id'])
      const same = await put(order, await planned(kind))
      expect({ status: same.status, body: same.body }).toMatchObject({
        status: 200,
        body: { status: 'active' },
      })
    })

    test('active: items and shipping can be changed when a trial with an end of its own is over', async () => {
      const { id } = await inState('active', { trial: { enabled: true, endTime: later(2) } })
      await sql(
        `update subscriptions set start_time = start_time - interval '1 year',
                trial = jsonb_set(trial, '{endTime}', to_jsonb(?::text)) where id = ?`,
        [later(-300), id],
      )
      const order = await read(id)
      const response = await put(order, {
        ...(await planned(MONTHLY)),
        shipping: { amount: 3, calculator: 'manual' },
      })
      expect({ status: response.status, body: response.body }).toMatchObject({
        status: 200,
        body: { shipping: { amount: 3 }, trial: order.trial },
      })
    })

    test.each(states.filter((state) => state !== 'pending'))(
      '%s: what is wrong of itself is told before what cannot be changed: 422, not 409',
      async (state) => {
        const order = await inState(state)
        const wrong = { items: [{ plan: { id: 'none' } }], startTime: later(2) }
        expect(expectProblem(await put(order, wrong), 422, 'validation-error')).toEqual(['items.0.plan.id'])
        const { id: customerId } = await make('customers', {})
        const response = await put(order, { customerId, paymentInstrumentId: 'none' })
        expect(expectProblem(response, 422, 'validation-error')).toEqual(['paymentInstrumentId'])
      },
    )

    test('unchanged is taken at any later time, though its times have passed', async () => {
      const placed = await place({
        startTime: later(1),
        abandonTime: later(3),
        trial: { enabled: true, endTime: later(2) },
      })
      await merchant.api.post(`subscriptions/${placed.id}/void`, {})
      await sql(
        `update subscriptions set start_time = start_time - interval '1 year', abandon_time = abandon_time - interval '1 year',
                trial = jsonb_set(trial, '{endTime}', '"2020-01-01T00:00:00.000Z"') where id = ?`,
        [placed.id],
      )
      const old = await read(placed.id)
      expect(Date.parse(String(old.startTime))).toBeLessThan(Date.now() - 300 * DAY)
      const response = await put(old)
      expect({ status: response.status, body: response.body }).toEqual({ status: 200, body: old })
    })
  })
})

describe('a customer', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  test('keeps a primary address and a lead source, and tells when the latter changes', async () => {
    const leadSource = { medium: 'email', campaign: 'spring' }
    const { body } = await merchant.api.post('customers', { primaryAddress: CONTACT, leadSource })
    expect(body).toMatchObject({
      primaryAddress: { ...CONTACT, hash: expect.any(String) },
      leadSource: { ...leadSource, source: null, referrer: null },
    })
    const path = `customers/${body.id}`
    expect((await merchant.api.put(path, body)).body).toEqual(body)
    const moved = await merchant.api.put(path, { ...body, primaryAddress: null })
    expect(moved.body).toMatchObject({ primaryAddress: null, revision: 2 })
    const other = await merchant.api.put(path, { ...moved.body, leadSource: { medium: 'search' } })
    expect(other.body).toMatchObject({ leadSource: { medium: 'search', campaign: null }, revision: 3 })
    const events = await service.database.orm.em
      .fork()
      .getConnection()
      .execute<{ type: string; payload: string }[]>(
        'select type, payload from events where entity_id = ? order by id',
        [body.id],
      )
    const told = events.map(({ type, payload }) => [type, JSON.parse(payload)._embedded.customer.revision])
    expect(told).toEqual([
      ['customer-created', 1],
      ['customer-updated', 2],
      ['lead-source-changed', 3],
      ['customer-updated', 3],
    ])
    const wrong = await merchant.api.put(path, {
      leadSource: { colour: 'red' },
      primaryAddress: { dob: 'x' },
    })
    expect(expectProblem(wrong, 422, 'validation-error')).toEqual(['leadSource.colour', 'primaryAddress.dob'])
  })
})
