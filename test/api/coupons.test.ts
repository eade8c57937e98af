import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { advanceCoupon } from '../../commands/coupons/save-coupon.ts'
import { Coupon } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import { inUnitOfWork } from '../../db/unit-of-work.ts'
import type { ApiClient } from '../support/api-client.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { makePayer } from '../support/payments.ts'
import { startService, type TestService } from '../support/service.ts'

type Body = Record<string, unknown>

const DAY = 86_400_000
const inDays = (days: number): string => new Date(Date.now() + days * DAY).toISOString()

describe('coupons', () => {
  let service: TestService
  let merchant: Catalogue
  let api: ApiClient

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
    api = merchant.api
  })
  afterAll(() => service.stop())

  const percent = (value: number, members: object = {}) => ({
    discount: { type: 'percent', value },
    ...members,
  })
  const fixed = (amount: number, members: object = {}) => ({
    discount: { type: 'fixed', amount, currency: 'EUR' },
    ...members,
  })
  const coupon = async (body: object = percent(10)): Promise<string> =>
    String((await create(api, 'coupons', body)).id)
  const customer = async (body: object = {}): Promise<string> =>
    String((await create(api, 'customers', body)).id)
  const order = (members: object = {}) => create(api, 'subscriptions', orderBody(merchant, members))
  const later = (members: object = {}) => order({ startTime: inDays(1), ...members })
  const invoiceOf = async ({ initialInvoiceId }: Body): Promise<Body> =>
    (await api.get(`invoices/${initialInvoiceId}`)).body
  const discountsOf = (invoice: Body) =>
    (invoice.discounts as Body[]).map(({ couponId, amount }) => [couponId, amount])
  const redemptionsOf = async (filter: string): Promise<Body[]> =>
    (await api.get<Body[]>(`coupons-redemptions?filter=${filter}&sort=id`)).body
  const put = async (id: unknown, members: object) => {
    const { body } = await api.get(`subscriptions/${id}`)
    return await api.put(`subscriptions/${id}`, { ...body, ...members })
  }
  const eventsOf = async (entityId: unknown): Promise<string[]> =>
    (
      await service.database.orm.em
        .fork()
        .getConnection()
        .execute<{ type: string }[]>('select type from events where entity_id = ? order by position', [
          entityId,
        ])
    ).map(({ type }) => type)
  const timelineOf = async (path: string): Promise<unknown[]> =>
    (await api.get<Body[]>(`${path}/timeline?limit=100`)).body.map(({ type }) => type)
  describe('as a resource', () => {
    test('are created, read, listed, changed and deleted', async () => {
      const response = await api.post<Body>('coupons', {
        discount: { type: 'fixed', amount: 12.5, currency: 'EUR' },
        description: 'Welcome',
        restrictions: [
          { type: 'total-redemptions', quantity: 3 },
          { type: 'minimum-order-amount', amount: 20, currency: 'EUR' },
        ],
        expiredTime: inDays(30),
      })
      const { id, createdTime } = response.body
      const url = `${service.baseUrl}/organizations/${merchant.organizationId}/coupons/${id}`
      expect(response.status).toBe(201)
      expect(response.headers.get('location')).toBe(url)
      expect(response.body).toEqual({
        id: expect.stringMatching(/^cpn_/),
        description: 'Welcome',
        discount: { type: 'fixed', amount: 12.5, currency: 'EUR', context: 'items' },
        restrictions: [
          { type: 'total-redemptions', quantity: 3 },
          { type: 'minimum-order-amount', amount: 20, currency: 'EUR' },
        ],
        redemptionsCount: 0,
        status: 'issued',
        issuedTime: createdTime,
        expiredTime: expect.stringMatching(/Z$/),
        revision: 1,
        createdTime,
        updatedTime: createdTime,
        _links: [{ rel: 'self', href: url }],
      })
      expect((await api.get(`coupons/${id}`)).body).toEqual(response.body)
      const listed = await api.get<Body[]>(
        'coupons?q=welcome&filter=status:issued;discount.type:fixed;discount.amount:12..13;redemptionsCount:0&sort=-expiredTime',
      )
      expect(listed.body).toEqual([response.body])
      expect(await api.put(`coupons/${id}`, response.body)).toMatchObject({
        status: 200,
        body: { revision: 1 },
      })
      const changed = await api.put(`coupons/${id}`, { ...percent(20), description: 'Better' })
      expect(changed).toMatchObject({
        status: 200,
        body: {
          revision: 2,
          discount: { value: 20 },
          restrictions: [],
          expiredTime: null,
          issuedTime: createdTime,
        },
      })
      expect(await api.put('coupons/SUMMER', percent(5))).toMatchObject({
        status: 201,
        body: { id: 'SUMMER' },
      })
      expect(await eventsOf(id)).toEqual(['coupon-issued', 'coupon-modified'])
      expect((await api.delete(`coupons/${id}`)).status).toBe(204)
      expectProblem(await api.get(`coupons/${id}`), 404, 'not-found')
    })

    test.each([
      ['no discount', {}, ['discount']],
      ['a share above the whole', percent(100.5), ['discount.value']],
      ['a share too precise', percent(0.00001), ['discount.value']],
      ['an amount without a currency', { discount: { type: 'fixed', amount: 5 } }, ['discount.currency']],
      [
        'an amount that its currency lacks',
        { discount: { type: 'fixed', amount: 0.5, currency: 'JPY' } },
        ['discount.amount'],
      ],
      ['a share with an amount', { discount: { type: 'percent', value: 5, amount: 5 } }, ['discount.amount']],
      ['shipping', { discount: { type: 'percent', value: 5, context: 'shipping' } }, ['discount.context']],
      [
        'an expiry before its issue',
        percent(5, { issuedTime: inDays(2), expiredTime: inDays(1) }),
        ['expiredTime'],
      ],
      [
        'something to buy, and nothing to get for it',
        percent(5, { restrictions: [{ type: 'restrict-to-bxgy', buy: [{ planId: 'p', quantity: 1 }] }] }),
        ['restrictions.0.get'],
      ],
      [
        'units to buy that are none',
        percent(5, {
          restrictions: [{ type: 'restrict-to-bxgy', buy: [{ planId: 'p', quantity: 0 }], get: [] }],
        }),
        ['restrictions.0.buy.0.quantity', 'restrictions.0.get'],
      ],
      [
        'a time of payment without one',
        percent(5, { restrictions: [{ type: 'paid-by-time' }] }),
        ['restrictions.0.time'],
      ],
      [
        'a restriction without its members',
        percent(5, { restrictions: [{ type: 'restrict-to-plans' }] }),
        ['restrictions.0.planIds'],
      ],
      [
        'a restriction with those of another',
        percent(5, { restrictions: [{ type: 'total-redemptions', quantity: 1, tags: ['a'] }] }),
        ['restrictions.0.tags'],
      ],
      [
        'a restriction twice',
        percent(5, {
          restrictions: [
            { type: 'total-redemptions', quantity: 1 },
            { type: 'total-redemptions', quantity: 2 },
          ],
        }),
        ['restrictions.1.type'],
      ],
    ])('are refused with %s', async (_, body, fields) => {
      expect(expectProblem(await api.post('coupons', body), 422, 'validation-error')).toEqual(fields)
    })

    test('keep their discount and stay once they are redeemed', async () => {
      const id = await coupon(percent(10, { description: 'Kept' }))
      await later({ couponIds: [id] })
      expectProblem(await api.put(`coupons/${id}`, percent(20)), 409, 'conflict')
      expect(await api.put(`coupons/${id}`, percent(10, { description: 'New' }))).toMatchObject({
        status: 200,
      })
      expectProblem(await api.delete(`coupons/${id}`), 409, 'conflict')
    })

    test('expire at the time that a caller sets', async () => {
      const id = await coupon()
      const ahead = inDays(3)
      expect(await api.post(`coupons/${id}/expiration`, { expiredTime: ahead })).toMatchObject({
        status: 201,
        body: { expiredTime: ahead, status: 'issued', revision: 2 },
      })
      const { issuedTime } = (await api.get(`coupons/${id}`)).body
      expect(
        expectProblem(
          await api.post(`coupons/${id}/expiration`, { expiredTime: issuedTime }),
          422,
          'validation-error',
        ),
      ).toEqual(['expiredTime'])
      const now = new Date().toISOString()
      expect(await api.post(`coupons/${id}/expiration`, { expiredTime: now })).toMatchObject({
        status: 201,
        body: { expiredTime: now, status: 'expired' },
      })
      expect(await eventsOf(id)).toEqual([
        'coupon-issued',
        'coupon-modified',
        'coupon-modified',
        'coupon-expired',
      ])
      expect(await api.post(`coupons/${id}/expiration`, { expiredTime: ahead })).toMatchObject({
        body: { status: 'issued' },
      })
      expectProblem(await api.post('coupons/none/expiration', { expiredTime: ahead }), 404, 'not-found')
    })

    test('are issued and expire by themselves, once each', async () => {
      const id = await coupon(percent(10, { issuedTime: inDays(1), expiredTime: inDays(2) }))
      expect((await api.get(`coupons/${id}`)).body.status).toBe('draft')
      const advance = (days: number) =>
        inUnitOfWork(
          service.database.orm.em.fork(),
          { organizationId: merchant.organizationId, baseUrl: service.baseUrl, now: new Date() },
          async (unit) => {
            const row = await lockRow(unit, Coupon, id)
            return row === null ? null : advanceCoupon(unit, row, Date.now() + days * DAY)
          },
        )
      expect(await advance(0.5)).toBeGreaterThan(Date.now() + 0.9 * DAY)
      expect(await advance(1)).toBeGreaterThan(Date.now() + 1.9 * DAY)
      expect(await advance(1)).toBeGreaterThan(Date.now() + 1.9 * DAY)
      expect((await api.get(`coupons/${id}`)).body).toMatchObject({ status: 'issued', revision: 2 })
      expect(await advance(3)).toBeNull()
      expect(await advance(3)).toBeNull()
      expect(await eventsOf(id)).toEqual(['coupon-issued', 'coupon-expired'])
    })
  })

  describe('of an order', () => {
    test('discount its initial invoice, percent before fixed', async () => {
      const [ten, share] = [await coupon(fixed(2, { description: 'Two off' })), await coupon(percent(50))]
      const placed = await later({ couponIds: [ten, share], shipping: { amount: 3, calculator: 'manual' } })
      expect(placed).not.toHaveProperty('couponIds')
      const invoice = await invoiceOf(placed)
      expect(invoice).toMatchObject({
        subtotalAmount: 9.9,
        discountAmount: 6.95,
        amount: 5.95,
        amountDue: 5.95,
        shipping: { amount: 3 },
        discounts: [
          { couponId: share, amount: 4.95, description: '50% off', context: 'items' },
          { couponId: ten, amount: 2, description: 'Two off', context: 'items' },
        ],
      })
      expect((await api.get<Body[]>(`invoices?filter=discountAmount:6.95;subtotalAmount:9.9`)).body).toEqual([
        expect.objectContaining({ id: invoice.id }),
      ])
      expect((await api.get(`coupons/${ten}`)).body).toMatchObject({ redemptionsCount: 1, revision: 2 })
      const [redemption] = await redemptionsOf(`couponId:${ten}`)
      expect(redemption).toMatchObject({
        couponId: ten,
        customerId: merchant.customerId,
        additionalRestrictions: [{ type: 'restrict-to-subscriptions', subscriptionIds: [placed.id] }],
        canceledTime: null,
        revision: 1,
      })
      expect((invoice.discounts as Body[])[1]).toMatchObject({ redemptionId: redemption?.id })
      expect(await eventsOf(ten)).toEqual(['coupon-issued', 'coupon-redeemed', 'coupon-applied'])
      expect(await timelineOf(`subscriptions/${placed.id}`)).toEqual(
        expect.arrayContaining(['coupon-redeemed', 'coupon-applied']),
      )
      expect(await timelineOf(`invoices/${invoice.id}`)).toEqual(expect.arrayContaining(['coupon-applied']))
      const expanded = await api.get(`coupons-redemptions/${redemption?.id}?expand=coupon,customer`)
      expect(expanded.body._embedded).toMatchObject({
        coupon: { id: ten },
        customer: { id: merchant.customerId },
      })
    })

    test('are left as they are without couponIds, and with null', async () => {
      const id = await coupon()
      const placed = await later({ couponIds: [id] })
      const before = await invoiceOf(placed)
      expect(await put(placed.id, {})).toMatchObject({ status: 200, body: { revision: placed.revision } })
      expect(await put(placed.id, { couponIds: null })).toMatchObject({ body: { revision: placed.revision } })
      expect(await invoiceOf(placed)).toEqual(before)
      const none = await later({ couponIds: null })
      expect(await invoiceOf(none)).toMatchObject({ amount: 9.9, discounts: [], discountAmount: 0 })
    })

    test('are all canceled by an empty list, and the draft is reissued under its id', async () => {
      const [one, other] = [await coupon(), await coupon(fixed(1))]
      const placed = await later({ couponIds: [one, other] })
      const changed = await put(placed.id, { couponIds: [] })
      expect(changed).toMatchObject({
        status: 200,
        body: { initialInvoiceId: placed.initialInvoiceId, revision: 2 },
      })
      const invoice = await invoiceOf(placed)
      expect(invoice).toMatchObject({ amount: 9.9, discounts: [], revision: 2 })
      for (const id of [one, other]) {
        expect(await redemptionsOf(`couponId:${id}`)).toEqual([
          expect.objectContaining({ canceledTime: expect.any(String), revision: 2 }),
        ])
        expect(await eventsOf(id)).toEqual([
          'coupon-issued',
          'coupon-redeemed',
          'coupon-applied',
          'coupon-redemption-canceled',
          'coupon-application-removed',
        ])
      }
      expect(await eventsOf(invoice.id)).toEqual(['invoice-created', 'invoice-reissued'])
    })

    test('by a list: those that are new are redeemed, those that it names stay, the others are canceled', async () => {
      const [kept, ended, added] = [await coupon(), await coupon(percent(20)), await coupon(fixed(1))]
      const placed = await later({ couponIds: [kept, ended] })
      const [first] = await redemptionsOf(`couponId:${kept}`)
      expect((await put(placed.id, { couponIds: [added, kept] })).status).toBe(200)
      expect(discountsOf(await invoiceOf(placed))).toEqual([
        [kept, 0.99],
        [added, 1],
      ])
      expect(await redemptionsOf(`couponId:${kept}`)).toEqual([first])
      expect(await redemptionsOf(`couponId:${ended}`)).toEqual([
        expect.objectContaining({ canceledTime: expect.any(String) }),
      ])
      expect(await redemptionsOf(`couponId:${added}`)).toEqual([
        expect.objectContaining({ canceledTime: null }),
      ])
      // The same list changes nothing; another order of it counts.
      expect(await put(placed.id, { couponIds: [added, kept] })).toMatchObject({ body: { revision: 2 } })
      const third = await coupon(percent(50))
      expect((await put(placed.id, { couponIds: [third, kept] })).status).toBe(200)
      expect(discountsOf(await invoiceOf(placed))).toEqual([
        [third, 4.95],
        [kept, 0.5],
      ])
      expect((await put(placed.id, { couponIds: [kept, third] })).status).toBe(200)
      expect(discountsOf(await invoiceOf(placed))).toEqual([
        [kept, 0.99],
        [third, 4.46],
      ])
    })

    test('apply from the next invoice on while it is active, and not at all once it has ended', async () => {
      const id = await coupon(percent(50))
      const placed = await order({ autopay: false })
      // The first command advances the order, and its service begins.
      await put(placed.id, { notes: 'Started.' })
      const before = await invoiceOf((await api.get(`subscriptions/${placed.id}`)).body)
      const changed = await put(placed.id, { couponIds: [id] })
      expect(changed).toMatchObject({ status: 200, body: { status: 'active', mrr: 9.9 } })
      expect(await invoiceOf(changed.body)).toEqual(before)
      expect((await api.get(`subscriptions/${placed.id}/upcoming-invoice`)).body).toMatchObject({
        amount: 4.95,
        amountDue: 4.95,
        subtotalAmount: 9.9,
        discountAmount: 4.95,
        discounts: [{ couponId: id, amount: 4.95 }],
      })
      expect(
        (await api.get(`subscriptions/${placed.id}?expand=upcomingInvoice`)).body._embedded,
      ).toMatchObject({
        upcomingInvoice: { amount: 4.95 },
      })
      expect(await eventsOf(placed.id)).toContain('subscription-items-changed')
      const voided = await later()
      await create(api, `subscriptions/${voided.id}/void`, {})
      expectProblem(await put(voided.id, { couponIds: [id] }), 409, 'conflict')
      expect(await redemptionsOf(`couponId:${id}`)).toHaveLength(1)
    })

    test('reissue an unpaid invoice of a pending order under its id; one without anything left to pay begins it', async () => {
      const payer = await makePayer(api)
      const placed = await order(payer)
      await put(placed.id, { notes: 'Issued.' })
      const unpaid = await invoiceOf(placed)
      expect(unpaid).toMatchObject({ status: 'unpaid', amount: 9.9 })
      const half = await coupon(percent(50))
      expect(await put(placed.id, { couponIds: [half] })).toMatchObject({
        status: 200,
        body: { status: 'pending' },
      })
      expect(await invoiceOf(placed)).toMatchObject({
        id: unpaid.id,
        status: 'unpaid',
        amount: 4.95,
        amountDue: 4.95,
        issuedTime: unpaid.issuedTime,
      })
      expect(await eventsOf(unpaid.id)).toContain('invoice-reissued')
      const whole = await coupon(percent(100))
      expect((await put(placed.id, { couponIds: [half, whole] })).status).toBe(200)
      expect(await invoiceOf(placed)).toMatchObject({ status: 'paid', amount: 0, discountAmount: 9.9 })
      // While a charge of it is in progress, it is what it is.
      const charged = await order(payer)
      await put(charged.id, { notes: 'Issued.' })
      await service.database.orm.em
        .fork()
        .getConnection()
        .execute(`update invoices set charge = ? where id = ?`, [
          JSON.stringify({ isOwn: true, at: Date.now(), answer: 'none', askTime: null }),
          String(charged.initialInvoiceId),
        ])
      const other = await coupon()
      expectProblem(await put(charged.id, { couponIds: [other] }), 409, 'conflict')
      expect((await api.get(`coupons/${other}`)).body).toMatchObject({ redemptionsCount: 0, revision: 1 })
      expect(await redemptionsOf(`couponId:${other}`)).toEqual([])
    })

    test('end with an order that is deleted', async () => {
      const id = await coupon()
      const placed = await later({ couponIds: [id] })
      expect((await api.delete(`subscriptions/${placed.id}`)).status).toBe(204)
      expect(await redemptionsOf(`couponId:${id}`)).toEqual([
        expect.objectContaining({ canceledTime: expect.any(String) }),
      ])
    })
  })

  describe('are refused, with the field named and nothing written,', () => {
    const usd = { discount: { type: 'fixed', amount: 1, currency: 'USD' } }
    const restricted = (restriction: object) => percent(10, { restrictions: [restriction] })
    const cases: readonly (readonly [string, () => object, string, string])[] = [
      ['in another currency', () => usd, 'mismatch', 'currency of the order: EUR'],
      ['that are not issued yet', () => percent(10, { issuedTime: inDays(1) }), 'inactive', 'issued already'],
      [
        'that have expired',
        () => percent(10, { issuedTime: inDays(-2), expiredTime: inDays(-1) }),
        'expired',
        'has not expired',
      ],
      [
        'below their minimum amount',
        () => restricted({ type: 'minimum-order-amount', amount: 10, currency: 'EUR' }),
        'not-allowed',
        'orders from 10 EUR',
      ],
      [
        'above their maximum amount',
        () => restricted({ type: 'maximum-order-amount', amount: 9.89, currency: 'EUR' }),
        'not-allowed',
        'orders up to 9.89 EUR',
      ],
      [
        'for other plans',
        () => restricted({ type: 'restrict-to-plans', planIds: ['other'] }),
        'not-allowed',
        'plans of the order',
      ],
      [
        'for more of a plan',
        () => restricted({ type: 'restrict-to-plans', planIds: [merchant.planId], minimumQuantity: 2 }),
        'not-allowed',
        'plans of the order',
      ],
      [
        'for products',
        () => restricted({ type: 'restrict-to-products', productIds: ['other'] }),
        'not-allowed',
        'products of the order',
      ],
      [
        'for other subscriptions',
        () => restricted({ type: 'restrict-to-subscriptions', subscriptionIds: ['other'] }),
        'not-allowed',
        'for the order',
      ],
      [
        'for other customers',
        () => restricted({ type: 'restrict-to-customers', customerIds: ['other'] }),
        'not-allowed',
        'for the customer',
      ],
      [
        'for tags',
        () => restricted({ type: 'restrict-to-customer-tags', tags: ['vip'] }),
        'not-allowed',
        'tags of the customer',
      ],
      [
        'for other countries',
        () => restricted({ type: 'restrict-to-countries', countries: ['FR'] }),
        'not-allowed',
        'country of the billing address',
      ],
      [
        'for other invoices',
        () => restricted({ type: 'restrict-to-invoices', invoiceIds: ['other'] }),
        'not-allowed',
        'invoice of the order',
      ],
      [
        'for buying more',
        () =>
          restricted({
            type: 'restrict-to-bxgy',
            buy: [{ planId: merchant.planId, quantity: 1 }],
            get: [{ planId: merchant.planId, quantity: 1 }],
          }),
        'not-allowed',
        'plans and quantities of the order',
      ],
      [
        'whose time of payment has passed',
        () => restricted({ type: 'paid-by-time', time: inDays(-1) }),
        'not-allowed',
        'time of payment is ahead',
      ],
    ]
    test.each(cases)('%s', async (_, body, code, message) => {
      const id = await coupon(body())
      const placed = await later()
      const field = { field: 'couponIds.0', code, message: expect.stringContaining(message) }
      const refused = [
        await api.post('subscriptions', orderBody(merchant, { couponIds: [id] })),
        await put(placed.id, { couponIds: [id] }),
        await api.post('coupons-redemptions', {
          couponId: id,
          customerId: merchant.customerId,
          additionalRestrictions: [{ type: 'restrict-to-subscriptions', subscriptionIds: [placed.id] }],
        }),
      ]
      for (const [index, response] of refused.entries()) {
        expectProblem(response, 422, 'validation-error')
        expect(response.body.invalidFields).toMatchObject([
          index === 2 ? { ...field, field: 'couponId' } : field,
        ])
      }
      expect(await redemptionsOf(`couponId:${id}`)).toEqual([])
      expect((await api.get(`coupons/${id}`)).body).toMatchObject({ redemptionsCount: 0, revision: 1 })
      expect((await api.get(`subscriptions/${placed.id}`)).body).toEqual(placed)
    })

    test('that do not exist, are named twice, or go with no other', async () => {
      const [known, alone] = [
        await coupon(),
        await coupon(restricted({ type: 'restrict-to-exclusive-application' })),
      ]
      const fields = async (couponIds: string[]) =>
        expectProblem(
          await api.post('subscriptions', orderBody(merchant, { couponIds })),
          422,
          'validation-error',
        )
      expect(await fields([known, 'none'])).toEqual(['couponIds.1'])
      expect(await fields([known, known])).toEqual(['couponIds.1'])
      expect(await fields([known, alone])).toEqual(['couponIds'])
      expect(discountsOf(await invoiceOf(await later({ couponIds: [alone] })))).toEqual([[alone, 0.99]])
    })

    test('for buying two discount the third, at the average price', async () => {
      const units = (quantity: number) => [{ planId: merchant.planId, quantity }]
      const id = await coupon(
        percent(100, { restrictions: [{ type: 'restrict-to-bxgy', buy: units(2), get: units(1) }] }),
      )
      const placed = await later({ items: [{ plan: { id: merchant.planId }, quantity: 4 }], couponIds: [id] })
      expect(await invoiceOf(placed)).toMatchObject({ amount: 7.42, discounts: [{ amount: 2.48 }] })
      expect((await api.get(`coupons/${id}`)).body.restrictions).toEqual([
        { type: 'restrict-to-bxgy', buy: units(2), get: units(1) },
      ])
    })

    test('that had to be used by a time are taken back from an invoice that is not paid by then', async () => {
      const time = inDays(3)
      const id = await coupon(percent(50, { restrictions: [{ type: 'paid-by-time', time }] }))
      const placed = await order({ couponIds: [id], autopay: false })
      await put(placed.id, { notes: 'Begun.' })
      expect(await invoiceOf(placed)).toMatchObject({ status: 'unpaid', amount: 4.95, amountDue: 4.95 })
      await service.database.orm.em
        .fork()
        .getConnection()
        .execute('update subscriptions set clock_offset = ?, next_deadline = next_deadline where id = ?', [
          4 * DAY,
          placed.id,
        ])
      await put(placed.id, { notes: 'Later.' })
      expect(await invoiceOf(placed)).toMatchObject({
        status: 'past-due',
        amount: 9.9,
        amountDue: 9.9,
        discountAmount: 0,
        discounts: [],
      })
      expect(await eventsOf(id)).toEqual([
        'coupon-issued',
        'coupon-redeemed',
        'coupon-applied',
        'coupon-application-removed',
      ])
      expect(await eventsOf(placed.initialInvoiceId)).toContain('invoice-modified')
    })

    test('unless the order meets what they require', async () => {
      const tag = await create(api, 'tags', { name: 'VIP', type: 'customer' })
      const customerId = await customer({ primaryAddress: { country: 'FR' } })
      await api.post(`tags/${tag.id}/customers/${customerId}`, undefined)
      const id = await coupon(
        percent(10, {
          restrictions: [
            { type: 'restrict-to-customer-tags', tags: ['vip'] },
            { type: 'restrict-to-countries', countries: ['FR'] },
            { type: 'restrict-to-customers', customerIds: [customerId] },
            { type: 'restrict-to-plans', planIds: [merchant.planId], minimumQuantity: 2 },
            { type: 'minimum-order-amount', amount: 9.9, currency: 'EUR' },
          ],
        }),
      )
      const items = [{ plan: { id: merchant.planId }, quantity: 2 }]
      const placed = await later({ customerId, items, couponIds: [id] })
      expect(discountsOf(await invoiceOf(placed))).toEqual([[id, 0.99]])
      // An order that no longer meets it keeps the coupon, without its discount.
      expect((await put(placed.id, { items: [{ plan: { id: merchant.planId } }] })).status).toBe(200)
      expect(discountsOf(await invoiceOf(placed))).toEqual([])
      expect(await redemptionsOf(`couponId:${id}`)).toEqual([expect.objectContaining({ canceledTime: null })])
    })

    test('once their redemptions are used up, of all customers or of one', async () => {
      const limited = await coupon(
        percent(10, {
          restrictions: [
            { type: 'total-redemptions', quantity: 3 },
            { type: 'redemptions-per-customer', quantity: 2 },
          ],
        }),
      )
      const customerId = await customer()
      const ask = (members: object) =>
        api.post(
          'subscriptions',
          orderBody(merchant, { startTime: inDays(1), couponIds: [limited], ...members }),
        )
      expect((await ask({})).status).toBe(201)
      expect((await ask({})).status).toBe(201)
      expectProblem(await ask({}), 422, 'validation-error')
      expect((await ask({ customerId })).status).toBe(201)
      const refused = await ask({ customerId })
      expect(refused.body.invalidFields).toMatchObject([
        { field: 'couponIds.0', code: 'not-allowed', message: 'must be a coupon with redemptions left' },
      ])
    })

    test('of many who redeem the last one at once, by each of the ways, all but one', async () => {
      for (let round = 0; round < 5; round += 1) {
        const last = await coupon(percent(10, { restrictions: [{ type: 'total-redemptions', quantity: 1 }] }))
        const placed = await later()
        const responses = await Promise.all([
          api.post('subscriptions', orderBody(merchant, { couponIds: [last] })),
          api.post('subscriptions', orderBody(merchant, { couponIds: [last] })),
          put(placed.id, { couponIds: [last] }),
          api.post('coupons-redemptions', { couponId: last, customerId: merchant.customerId }),
        ])
        expect(responses.map(({ status }) => status).filter((status) => status < 300)).toHaveLength(1)
        expect(responses.filter(({ status }) => status === 422)).toHaveLength(3)
        expect((await api.get(`coupons/${last}`)).body.redemptionsCount).toBe(1)
        expect(await redemptionsOf(`couponId:${last}`)).toHaveLength(1)
        for (const { id } of await redemptionsOf(`couponId:${last}`))
          expect((await api.post(`coupons-redemptions/${id}/cancel`, undefined)).status).toBe(201)
      }
    })
  })

  describe('redemptions', () => {
    const redeem = (body: object) => api.post<Body>('coupons-redemptions', body)

    test('for a customer discount all orders, the drafts of pending ones too, until they are canceled', async () => {
      const customerId = await customer()
      const draft = await later({ customerId })
      const id = await coupon(percent(50))
      const response = await redeem({ couponId: id, customerId })
      expect(response).toMatchObject({
        status: 201,
        body: {
          id: expect.stringMatching(/^red_/),
          couponId: id,
          customerId,
          additionalRestrictions: [],
          canceledTime: null,
        },
      })
      const url = `${service.baseUrl}/organizations/${merchant.organizationId}`
      expect(response.headers.get('location')).toBe(`${url}/coupons-redemptions/${response.body.id}`)
      expect(response.body._links).toEqual([
        { rel: 'self', href: `${url}/coupons-redemptions/${response.body.id}` },
        { rel: 'coupon', href: `${url}/coupons/${id}` },
        { rel: 'customer', href: `${url}/customers/${customerId}` },
      ])
      expect(discountsOf(await invoiceOf(draft))).toEqual([[id, 4.95]])
      const placed = await later({ customerId })
      expect(discountsOf(await invoiceOf(placed))).toEqual([[id, 4.95]])
      // One that the order has too discounts it once.
      await put(placed.id, { couponIds: [id] })
      expect(discountsOf(await invoiceOf(placed))).toEqual([[id, 4.95]])
      await put(placed.id, { couponIds: [] })
      expect(discountsOf(await invoiceOf(placed))).toEqual([[id, 4.95]])
      const canceled = await api.post(`coupons-redemptions/${response.body.id}/cancel`, undefined)
      expect(canceled).toMatchObject({ status: 201, body: { canceledTime: expect.any(String), revision: 2 } })
      for (const one of [draft, placed])
        expect(await invoiceOf(one)).toMatchObject({ discounts: [], amount: 9.9 })
      expectProblem(
        await api.post(`coupons-redemptions/${response.body.id}/cancel`, undefined),
        409,
        'conflict',
      )
      expectProblem(await api.post('coupons-redemptions/none/cancel', undefined), 404, 'not-found')
      expect(await timelineOf(`customers/${customerId}`)).toEqual(
        expect.arrayContaining(['coupon-redeemed', 'coupon-redemption-canceled']),
      )
      expectProblem(await api.delete(`customers/${customerId}`), 409, 'conflict')
    })

    test('for one order are among its coupons', async () => {
      const [first, id] = [await coupon(percent(50)), await coupon(percent(50))]
      const placed = await later({ couponIds: [first] })
      const only = { type: 'restrict-to-subscriptions', subscriptionIds: [placed.id] }
      const most = { type: 'maximum-order-amount', amount: 100, currency: 'EUR' }
      const made = await redeem({
        couponId: id,
        customerId: merchant.customerId,
        additionalRestrictions: [only, most],
      })
      expect(made).toMatchObject({ status: 201, body: { additionalRestrictions: [most, only] } })
      expect(discountsOf(await invoiceOf(placed))).toEqual([
        [first, 4.95],
        [id, 2.48],
      ])
      expectProblem(
        await redeem({ couponId: id, customerId: merchant.customerId, additionalRestrictions: [only] }),
        409,
        'conflict',
      )
      expect((await put(placed.id, { couponIds: [id] })).status).toBe(200)
      expect(discountsOf(await invoiceOf(placed))).toEqual([[id, 4.95]])
      expect((await api.post(`coupons-redemptions/${made.body.id}/cancel`, undefined)).status).toBe(201)
      expect(discountsOf(await invoiceOf(placed))).toEqual([])
      expect((await put(placed.id, { couponIds: [] })).body).toMatchObject({ revision: 4 })
    })

    test('canceled while their order is canceled are redeemed again once it is back', async () => {
      const id = await coupon(percent(50))
      const placed = await order({ autopay: false, couponIds: [id] })
      await create(api, 'subscription-cancellations', { subscriptionId: placed.id, churnTime: inDays(3) })
      const [redemption] = await redemptionsOf(`couponId:${id}`)
      expect((await api.post(`coupons-redemptions/${redemption?.id}/cancel`, undefined)).status).toBe(201)
      expect(await eventsOf(placed.id)).toContain('subscription-modified')
      expectProblem(await put(placed.id, { couponIds: [id] }), 409, 'conflict')
      await create(api, 'subscription-reactivations', { subscriptionId: placed.id })
      expect((await put(placed.id, { couponIds: [id] })).status).toBe(200)
      expect(await redemptionsOf(`couponId:${id};canceledTime:null`)).toHaveLength(1)
      const upcoming = await api.get(`subscriptions/${placed.id}/upcoming-invoice`)
      expect(discountsOf(upcoming.body)).toEqual([[id, 4.95]])
    })

    test('for an invoice discount that alone', async () => {
      const [id, customerId] = [await coupon(percent(50)), await customer()]
      const [placed, other] = [await later({ customerId }), await later({ customerId })]
      const made = await redeem({
        couponId: id,
        customerId,
        additionalRestrictions: [{ type: 'restrict-to-invoices', invoiceIds: [placed.initialInvoiceId] }],
      })
      expect(made.status).toBe(201)
      expect(discountsOf(await invoiceOf(placed))).toEqual([[id, 4.95]])
      expect(discountsOf(await invoiceOf(other))).toEqual([])
      expect((await api.get(`subscriptions/${placed.id}/upcoming-invoice`)).body.discounts ?? []).toEqual([])
    })

    test('are refused with what does not exist, belongs to another customer or is no restriction of them', async () => {
      const [id, customerId, placed] = [await coupon(), await customer(), await later()]
      const fields = async (members: object) =>
        expectProblem(await redeem({ couponId: id, customerId, ...members }), 422, 'validation-error')
      const of = (...subscriptionIds: unknown[]) => ({
        additionalRestrictions: [{ type: 'restrict-to-subscriptions', subscriptionIds }],
      })
      expect(await fields({ couponId: 'none', customerId: 'none' })).toEqual(['couponId', 'customerId'])
      expect(await fields(of('none'))).toEqual(['additionalRestrictions.0.subscriptionIds.0'])
      expect(await fields(of(placed.id))).toEqual(['additionalRestrictions.0.subscriptionIds.0'])
      expect(await fields(of(placed.id, 'none'))).toEqual([
        'additionalRestrictions.0.subscriptionIds.0',
        'additionalRestrictions.0.subscriptionIds.1',
      ])
      const ofInvoices = (...invoiceIds: unknown[]) => ({
        additionalRestrictions: [{ type: 'restrict-to-invoices', invoiceIds }],
      })
      expect(await fields(ofInvoices('none', placed.initialInvoiceId))).toEqual([
        'additionalRestrictions.0.invoiceIds.0',
        'additionalRestrictions.0.invoiceIds.1',
      ])
      const ownInvoice = await create(api, 'invoices', {
        customerId,
        websiteId: merchant.websiteId,
        currency: 'EUR',
        items: [{ type: 'debit', unitPrice: 5 }],
      })
      expect(await fields(ofInvoices(ownInvoice.id))).toEqual(['additionalRestrictions.0.invoiceIds.0'])
      const total = { type: 'total-redemptions', quantity: 1 }
      expect(await fields({ additionalRestrictions: [total] })).toEqual(['additionalRestrictions.0.type'])
      const limited = { type: 'discounts-per-redemption', quantity: 1 }
      expect(await fields({ additionalRestrictions: [limited] })).toEqual(['couponId'])
      const own = await later({ customerId })
      const least = { type: 'minimum-order-amount', amount: 10, currency: 'EUR' }
      const [only] = of(own.id).additionalRestrictions
      expect(await fields({ additionalRestrictions: [only, least] })).toEqual(['couponId'])
      expect(await redemptionsOf(`couponId:${id}`)).toEqual([])
    })

    test('for all orders keep the coupon from a limit of discounts, until they are canceled: 409', async () => {
      const [id, customerId] = [await coupon(), await customer()]
      const made = await redeem({ couponId: id, customerId })
      const limited = percent(10, { restrictions: [{ type: 'discounts-per-redemption', quantity: 1 }] })
      const before = (await api.get(`coupons/${id}`)).body
      expectProblem(await api.put(`coupons/${id}`, limited), 409, 'conflict')
      expect((await api.get(`coupons/${id}`)).body).toEqual(before)
      expect((await api.post(`coupons-redemptions/${made.body.id}/cancel`, {})).status).toBeLessThan(300)
      expect(await api.put(`coupons/${id}`, limited)).toMatchObject({ status: 200, body: limited })
      expect(await api.put(`coupons/${id}`, { ...limited, description: 'Once' })).toMatchObject({
        status: 200,
      })
    })

    test('move to the customer into whom theirs is merged', async () => {
      const [duplicate, target] = [await customer(), await customer()]
      const id = await coupon(percent(50))
      const made = await redeem({ couponId: id, customerId: duplicate })
      const merged = await api.send('DELETE', `customers/${duplicate}?targetCustomerId=${target}`)
      expect(merged.status).toBeLessThan(300)
      expect((await api.get(`coupons-redemptions/${made.body.id}`)).body).toMatchObject({
        customerId: target,
        revision: 2,
      })
      expect(discountsOf(await invoiceOf(await later({ customerId: target })))).toEqual([[id, 4.95]])
    })
  })
})
