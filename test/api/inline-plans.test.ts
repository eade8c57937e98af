import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'

type Body = Record<string, unknown>

const DAY = 86_400_000
const later = (days: number) => new Date(Date.now() + days * DAY).toISOString()

const SALE = { name: 'Installation', currency: 'EUR', pricing: { formula: 'fixed-fee', price: 49 } }
const MONTHLY = {
  name: 'Seats',
  description: 'For a team.',
  currency: 'EUR',
  pricing: { formula: 'flat-rate', price: 12.5, minQuantity: 2, maxQuantity: 10 },
  recurringInterval: { unit: 'month', length: 1 },
  setup: { price: 30 },
}
const TRIAL_ONLY = {
  name: 'Taster',
  currency: 'EUR',
  trial: { price: 3, period: { unit: 'week', length: 1 } },
}

// Without a worker: commands first advance an order to their own instant, and so find it begun.
describe("an item's own plan", () => {
  let service: TestService
  let merchant: Catalogue
  let productId: string

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
    productId = String((await create(merchant.api, 'products', { name: 'Software' })).id)
  })
  afterAll(() => service.stop())

  const make = (path: string, body: object) => create(merchant.api, path, body)
  const place = (items: object[], members: object = {}) =>
    make('subscriptions', orderBody(merchant, { items, ...members }))
  const read = async (path: string) => (await merchant.api.get(path)).body
  const begun = async (items: object[], members: object = {}): Promise<{ order: Body; invoice: Body }> => {
    const { id } = await place(items, members)
    await make('subscription-pauses', { subscriptionId: id, effectiveTime: later(800), endTime: later(900) })
    const order = await read(`subscriptions/${id}`)
    return { order, invoice: await read(`invoices/${order.initialInvoiceId}`) }
  }
  const prices = ({ items }: Body) =>
    (items as { description: string; price: number }[]).map(({ description, price }) => [description, price])
  const refusal = (items: object[], members: object = {}) =>
    merchant.api.post('subscriptions', orderBody(merchant, { items, ...members }))

  test.each<[string, object, Body]>([
    ['one-time sale', SALE, { rebillNumber: null, inTrial: false }],
    ['subscription', { ...MONTHLY, trial: TRIAL_ONLY.trial }, { rebillNumber: 0, inTrial: true }],
    ['trial-only', TRIAL_ONLY, { rebillNumber: 0, inTrial: true }],
  ])('is answered as it was sent, and its item is modified: %s', async (_, plan, state) => {
    const sent = { ...plan, productId, customFields: { color: 'red' } }
    const { order } = await begun([{ plan: sent, quantity: 2 }])
    expect(order).toMatchObject({
      ...state,
      status: 'active',
      currency: 'EUR',
      items: [{ plan: sent, quantity: 2, isModified: true, isGrandfathered: false }],
    })
    expect((order.items as Body[])[0]).not.toHaveProperty('planId')
    expect((order.items as { plan: Body }[])[0]?.plan).not.toHaveProperty('id')
    const put = await merchant.api.put(`subscriptions/${order.id}`, order)
    expect(put).toMatchObject({ status: 200, body: { revision: order.revision, items: order.items } })
  })

  test('is a reference where the id stands alone, or beside members without a value', async () => {
    const plan = { id: merchant.planId, name: null, pricing: null, trial: null }
    const { items } = await place([{ plan }])
    expect(items).toMatchObject([{ planId: merchant.planId, isModified: false }])
    expect((items as Body[])[0]?.plan).toEqual({ id: merchant.planId })
  })

  test('may be a version of a plan, which it names and does not follow', async () => {
    const { order, invoice } = await begun([{ plan: { ...SALE, id: merchant.planId } }])
    expect(order.items).toMatchObject([{ plan: { ...SALE, id: merchant.planId }, planId: merchant.planId }])
    expect(invoice.items).toMatchObject([{ planId: merchant.planId, price: 49 }])
    const plan = await read(`plans/${merchant.planId}`)
    await merchant.api.put(`plans/${merchant.planId}`, { ...plan, name: 'Renamed' })
    expect(await read(`subscriptions/${order.id}`)).toMatchObject({ items: [{ isGrandfathered: false }] })
  })

  test('stands beside others: each is priced by its own formula, and one-time sales are sold once', async () => {
    const tiers = {
      name: 'Storage',
      currency: 'EUR',
      recurringInterval: { unit: 'month', length: 1 },
      pricing: {
        formula: 'tiered',
        brackets: [
          { price: 2, maxQuantity: 10 },
          { price: 1, maxQuantity: null },
        ],
      },
    }
    const { order, invoice } = await begun([
      { plan: { id: merchant.planId } },
      { plan: MONTHLY, quantity: 3 },
      { plan: tiers, quantity: 12 },
      { plan: SALE },
    ])
    expect(invoice).toMatchObject({ amount: 148.4, isNewOrder: true })
    const recurring = [
      [expect.any(String), 9.9],
      ['Seats', 37.5],
      ['Storage (units 1 to 10)', 20],
      ['Storage (units 11 to 12)', 2],
    ]
    expect(prices(invoice)).toEqual([['Seats: setup', 30], ...recurring, ['Installation', 49]])
    const upcoming = await read(`subscriptions/${order.id}/upcoming-invoice`)
    expect(prices(upcoming)).toEqual(recurring)
  })

  test('of a one-time sale completes its order when the invoice is paid, as a plan by reference does', async () => {
    const { order, invoice } = await begun([{ plan: SALE, quantity: 2 }], { orderType: 'one-time-order' })
    const paid = await merchant.api.post('transactions', {
      type: 'sale',
      customerId: merchant.customerId,
      currency: 'EUR',
      amount: 49,
      paymentInstruction: { method: 'external' },
      invoiceIds: [invoice.id],
    })
    expect(paid.status).toBe(201)
    expect(await read(`subscriptions/${order.id}`)).toMatchObject({
      status: 'completed',
      billingStatus: 'paid',
    })
  })

  test('keeps its item in a PUT that repeats it, and is priced anew in one that changes it', async () => {
    const first = await place([{ plan: MONTHLY, quantity: 2 }], { startTime: later(1) })
    const [item] = first.items as { id: string; revision: number }[]
    const put = async (plan: object, quantity: number) => {
      const { body } = await merchant.api.put(`subscriptions/${first.id}`, {
        ...first,
        items: [{ plan, quantity }],
      })
      return { item: (body.items as Body[])[0], invoice: await read(`invoices/${body.initialInvoiceId}`) }
    }
    const more = await put(MONTHLY, 4)
    expect(more).toMatchObject({ item: { id: item?.id, revision: 2 }, invoice: { amount: 80 } })
    const dearer = await put({ ...MONTHLY, pricing: { formula: 'flat-rate', price: 20 } }, 4)
    expect(dearer).toMatchObject({ item: { revision: 1 }, invoice: { amount: 110 } })
    expect(dearer.item?.id).not.toBe(item?.id)
  })

  test('holds its product against deletion', async () => {
    const { id } = await make('products', { name: 'Sold once' })
    await place([{ plan: { ...SALE, productId: id } }])
    const refused = await merchant.api.delete(`products/${id}`)
    expectProblem(refused, 409, 'conflict')
    expect(refused.body.detail).toContain('a subscription refers to it')
  })

  const brackets = (...maxima: (number | null)[]) => ({
    ...SALE,
    pricing: { formula: 'volume', brackets: maxima.map((maxQuantity) => ({ price: 1, maxQuantity })) },
  })

  test.each<[string, object, Record<string, string>]>([
    ['nothing', {}, { 'plan.id': 'required' }],
    [
      'a setup alone',
      { setup: { price: 1 } },
      { 'plan.name': 'required', 'plan.currency': 'required', 'plan.pricing': 'required' },
    ],
    [
      'a plan that refers to nothing',
      { ...SALE, id: 'absent', productId: 'absent' },
      { 'plan.productId': 'not-found', 'plan.id': 'not-found' },
    ],
    [
      'a formula without its price',
      { ...SALE, pricing: { formula: 'flat-rate' } },
      { 'plan.pricing.price': 'required' },
    ],
    [
      'a trial that is to be all without one',
      { ...SALE, isTrialOnly: true },
      { 'plan.isTrialOnly': 'mismatch' },
    ],
    [
      'brackets that do not ascend',
      brackets(5, 5, null),
      { 'plan.pricing.brackets.1.maxQuantity': 'out-of-range' },
    ],
    [
      'brackets without an open end',
      brackets(5, 9),
      { 'plan.pricing.brackets.1.maxQuantity': 'not-allowed' },
    ],
    ['an open bracket amid others', brackets(null, 9), { 'plan.pricing.brackets.0.maxQuantity': 'required' }],
    [
      'a price that the currency cannot express',
      { ...SALE, pricing: { formula: 'fixed-fee', price: 1.001 } },
      { 'plan.pricing.price': 'too-precise' },
    ],
    ['fewer units than it is sold in', MONTHLY, { quantity: 'out-of-range' }],
    [
      'metering',
      { ...MONTHLY, meteredBilling: { strategy: 'sum' } },
      { 'plan.meteredBilling': 'not-supported' },
    ],
  ])('is refused by its field, and nothing is written: %s', async (_, plan, failures) => {
    const count = async () =>
      (await merchant.api.get('subscriptions?limit=0')).headers.get('Pagination-Total')
    const before = await count()
    const refused = await refusal([{ plan }])
    expectProblem(refused, 422, 'validation-error')
    const fields = (refused.body.invalidFields as { field: string; code: string }[]).map(
      ({ field, code }) => [field, code] as const,
    )
    expect(Object.fromEntries(fields)).toEqual(
      Object.fromEntries(Object.entries(failures).map(([field, code]) => [`items.0.${field}`, code])),
    )
    expect(await count()).toBe(before)
  })

  test.each<[string, object, string]>([
    ['currency', { ...MONTHLY, currency: 'USD' }, 'currency'],
    ['service period', { ...MONTHLY, recurringInterval: { unit: 'year', length: 1 } }, 'recurringInterval'],
    ['trial', { ...MONTHLY, trial: TRIAL_ONLY.trial }, 'trial'],
  ])(
    'has to have the %s of the other plans, and is named by it where it has not',
    async (_, plan, member) => {
      const refused = await refusal([{ plan: { id: merchant.planId } }, { plan, quantity: 2 }])
      expectProblem(refused, 422, 'validation-error')
      expect(refused.body.invalidFields).toMatchObject([
        { field: `items.1.plan.${member}`, code: 'mismatch' },
      ])
    },
  )
})
