import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'

type Body = Record<string, unknown>

const SALE = { name: 'Installation', currency: 'EUR', pricing: { formula: 'fixed-fee', price: 49 } }
const SEATS = {
  name: 'Seats',
  currency: 'EUR',
  pricing: { formula: 'flat-rate', price: 12.5 },
  recurringInterval: { unit: 'month', length: 1 },
  setup: { price: 30 },
}

describe('a preview of an order', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const preview = (items: object[], members: object = {}) =>
    merchant.api.post('previews/orders', { websiteId: merchant.websiteId, items, ...members })
  const amounts = (amount: number, shippingAmount: number) => ({
    amount,
    subtotalAmount: amount - shippingAmount,
    shippingAmount,
    discountAmount: 0,
    taxAmount: 0,
  })

  test('shows the lines of its first invoice and the amounts of all, which placing it then has', async () => {
    const items = [
      { plan: { id: merchant.planId } },
      { plan: SEATS, quantity: 2 },
      { plan: SALE, quantity: 1 },
    ]
    const shipping = { amount: 4, calculator: 'manual' }
    const { status, body } = await preview(items, { shipping })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      websiteId: merchant.websiteId,
      currency: 'EUR',
      items: [
        { planId: merchant.planId, isModified: false },
        { plan: SEATS, quantity: 2, isModified: true },
        { plan: SALE, quantity: 1, isModified: true },
      ],
      lineItems: [
        { type: 'debit', description: 'Seats: setup', unitPrice: 30, quantity: 1, price: 30 },
        { type: 'debit', price: 9.9, planId: merchant.planId },
        { type: 'debit', description: 'Seats', unitPrice: 12.5, quantity: 2, price: 25 },
        { type: 'debit', description: 'Installation', price: 49 },
      ],
      subtotalAmount: 113.9,
      shippingAmount: 4,
      total: 117.9,
      initialAmounts: amounts(117.9, 4),
      recurringAmounts: amounts(38.9, 4),
      shipping,
    })
    const order = await create(merchant.api, 'subscriptions', orderBody(merchant, { items, shipping }))
    expect((await merchant.api.get(`invoices/${order.initialInvoiceId}`)).body).toMatchObject({
      amount: 117.9,
    })
  })

  test('has the discounts of its coupons, each for as many invoices as it is for', async () => {
    const coupon = async (percent: number, restrictions: object[] = []) =>
      String(
        (
          await create(merchant.api, 'coupons', {
            discount: { type: 'percent', value: percent },
            restrictions,
          })
        ).id,
      )
    const always = await coupon(10)
    const once = await coupon(50, [{ type: 'discounts-per-redemption', quantity: 1 }])
    const { body } = await preview([{ plan: SEATS, quantity: 4 }], { couponIds: [always, once] })
    expect(body).toMatchObject({
      subtotalAmount: 80,
      discounts: [
        { couponId: always, amount: 8, description: '10% off' },
        { couponId: once, amount: 36, description: '50% off' },
      ],
      discountsAmount: 44,
      total: 36,
      initialAmounts: { amount: 36, subtotalAmount: 80, discountAmount: 44 },
      recurringAmounts: { amount: 45, subtotalAmount: 50, discountAmount: 5 },
    })
  })

  test.each([
    ['a one-time sale', { plan: SALE }],
    ['a single period', { plan: { ...SEATS, recurringInterval: { ...SEATS.recurringInterval, limit: 1 } } }],
    [
      'a trial alone',
      {
        plan: {
          name: 'Taster',
          currency: 'EUR',
          trial: { price: 3, period: { unit: 'week', length: 1 } },
        },
      },
    ],
  ])('has no recurring amounts for %s', async (_, item) => {
    expect((await preview([item])).body).toMatchObject({ recurringAmounts: null })
  })

  test.each([
    ['after a trial', { trial: { price: 0, period: { unit: 'week', length: 2 } } }, {}],
    ['billed afterwards', {}, { billingTiming: 'postpaid' }],
  ])(
    'has the amount of a single period %s as a recurring one, which a renewal invoice bills',
    async (_, plan, interval) => {
      const recurringInterval = { ...SEATS.recurringInterval, limit: 1, ...interval }
      const { body } = await preview([{ plan: { ...SEATS, ...plan, recurringInterval } }])
      expect(body).toMatchObject({ recurringAmounts: { amount: 12.5 } })
    },
  )

  test('writes no row', async () => {
    const sql = <T = Body>(text: string) => service.database.orm.em.fork().getConnection().execute<T[]>(text)
    const tables = await sql<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = current_schema()
        and table_type = 'BASE TABLE' and table_name not in ('api_requests', 'rate_limits')`,
    )
    const count = () =>
      Promise.all(
        tables.map(
          async ({ name }) => [name, (await sql(`select count(*) as n from "${name}"`))[0]?.n] as const,
        ),
      )
    const before = await count()
    expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['subscriptions', 'invoices']))
    expect((await preview([{ plan: SEATS }])).status).toBe(200)
    expect(await count()).toEqual(before)
  })

  test.each<[string, object, string]>([
    ['an unknown website', { websiteId: 'absent' }, 'websiteId'],
    ['an unknown plan', { items: [{ planId: 'absent' }] }, 'items.0.plan.id'],
    ['a plan without its price', { items: [{ plan: { ...SALE, pricing: null } }] }, 'items.0.plan.pricing'],
    [
      'plans of two currencies',
      { items: [{ plan: SALE }, { plan: { ...SALE, currency: 'USD' } }] },
      'items.1.plan.currency',
    ],
    ['an unknown coupon', { couponIds: ['absent'] }, 'couponIds.0'],
    ['shipping that the currency cannot express', { shipping: { amount: 1.001 } }, 'shipping.amount'],
  ])('is refused as the order would be: %s', async (_, members, field) => {
    const refused = await preview([{ plan: SALE }], members)
    expectProblem(refused, 422, 'validation-error')
    expect(refused.body.invalidFields).toMatchObject([{ field }])
  })
})
