/** Taxes of orders: by which rates, on which invoices, and what is shown of them everywhere. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { pdfText } from '../support/pdf-text.ts'
import { startService, type TestService } from '../support/service.ts'

type Body = Record<string, unknown>

const DAY = 86_400_000
const GERMANY = {
  country: 'DE',
  name: 'VAT',
  rate: 19,
  categories: [{ taxCategoryId: 'books', rate: 7 }],
}
const FRANCE = { country: 'FR', name: 'TVA', rate: 20 }
const SETTINGS = {
  defaultTaxCalculator: { type: 'flat', rate: null, isInclusive: false },
  taxLocations: [GERMANY, FRANCE],
}

// Without a worker: commands advance an order up to their own instant first.
describe('taxes', () => {
  let service: TestService
  let merchant: Catalogue
  let bookId: string

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
  })
  beforeEach(async () => {
    merchant = await catalogue(service)
    bookId = String((await create(merchant.api, 'products', { name: 'Book', taxCategoryId: 'books' })).id)
  })
  afterAll(() => service.stop())

  const patch = (body: object) =>
    merchant.api.send<Body>('PATCH', '', {
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    })
  const taxed = async (settings: object = SETTINGS, members: object = {}) => {
    const organization = { country: 'DE', taxNumbers: [{ type: 'eu-vat', value: 'DE123456789' }], ...members }
    const { status, body } = await patch({ ...organization, settings })
    expect({ status, body }).toMatchObject({ status: 200, body: { settings } })
  }
  const read = async (path: string) => (await merchant.api.get(path)).body
  const plan = (price: number, members: object = {}) => ({
    name: `Plan for ${price}`,
    currency: 'EUR',
    pricing: { formula: 'flat-rate', price },
    recurringInterval: { unit: 'day', length: 30 },
    ...members,
  })
  const in_ = (country: string, region: string | null = null) => ({ billingAddress: { country, region } })
  const place = async (items: object[], members: object = in_('DE')): Promise<Body> =>
    create(merchant.api, 'subscriptions', orderBody(merchant, { items, ...members }))
  const firstInvoice = async (order: Body) => await read(`invoices/${order.initialInvoiceId}`)
  /** An order that began fifteen days ago: half of its period is left. */
  const begun = async (price: number, members: object = in_('DE')): Promise<Body> => {
    const startTime = new Date(Date.now() - 15 * DAY).toISOString()
    return advanced(await place([{ plan: plan(price) }], { startTime, ...members }))
  }
  const advanced = async ({ id }: Body): Promise<Body> => {
    const far = { effectiveTime: new Date(Date.now() + 800 * DAY).toISOString() }
    const pause = await create(merchant.api, 'subscription-pauses', { subscriptionId: id, ...far })
    await merchant.api.delete(`subscription-pauses/${pause.id}`)
    return await read(`subscriptions/${id}`)
  }
  const near = (amount: number) => ({
    asymmetricMatch: (value: unknown) => Math.abs(Number(value) - amount) <= 0.02,
  })

  test('are added to an invoice by the rate of each product, after discounts, as its preview says', async () => {
    await taxed()
    const coupon = await create(merchant.api, 'coupons', { discount: { type: 'percent', value: 10 } })
    const items = [{ plan: plan(100) }, { plan: plan(20, { productId: bookId }) }]
    const given = { ...in_('DE'), shipping: { amount: 5, calculator: 'manual' }, couponIds: [coupon.id] }
    const { body: preview } = await merchant.api.post<Body>('previews/orders', {
      websiteId: merchant.websiteId,
      items,
      ...given,
    })
    const invoice = await firstInvoice(await place(items, given))
    const part = { countyAmount: null, stateRate: null }
    expect(invoice).toMatchObject({
      amount: 132.31,
      amountDue: 132.31,
      subtotalAmount: 120,
      discountAmount: 12,
      shipping: { amount: 5 },
      tax: {
        calculator: 'manual',
        amount: 19.31,
        isInclusive: false,
        items: [
          {
            description: 'VAT 19%',
            rate: 19,
            amount: 18.05,
            taxableAmount: 95,
            jurisdictions: { country: 'DE', state: null, county: null, city: null },
            ...part,
          },
          { description: 'VAT 7%', rate: 7, amount: 1.26, taxableAmount: 18, ...part },
        ],
      },
      items: [
        { price: 100, tax: { amount: 17.1, description: 'VAT 19%', rate: 19 } },
        { price: 20, tax: { amount: 1.26, description: 'VAT 7%', rate: 7 } },
        { price: 5, tax: { amount: 0.95 } },
      ],
    })
    expect(await read(`invoices?filter=id:${invoice.id};subtotalAmount:120`)).toHaveLength(1)
    const amounts = { amount: 132.31, taxAmount: 19.31, subtotalAmount: 120, discountAmount: 12 }
    expect(preview).toMatchObject({
      total: 132.31,
      taxAmount: 19.31,
      taxes: [
        { amount: 18.05, description: 'VAT 19%' },
        { amount: 1.26, description: 'VAT 7%' },
      ],
      initialAmounts: amounts,
      recurringAmounts: amounts,
    })
  })

  test('are part of prices that include them', async () => {
    await taxed({ ...SETTINGS, defaultTaxCalculator: { type: 'flat', rate: null, isInclusive: true } })
    const invoice = await firstInvoice(await place([{ plan: plan(119) }]))
    expect(invoice).toMatchObject({
      amount: 119,
      subtotalAmount: 119,
      tax: { amount: 19, isInclusive: true, items: [{ amount: 19, taxableAmount: 100 }] },
      items: [{ price: 119, tax: { amount: 19 } }],
    })
    const found = (tax: string) => read(`invoices?filter=id:${invoice.id};${tax}`)
    expect(await found('tax.amount:19;tax.isInclusive:true;tax.calculator:manual')).toHaveLength(1)
    expect(await found('tax.isInclusive:false')).toEqual([])
    expect(await found('tax.amount:..18.99')).toEqual([])
  })

  test('are those of two rates where a region has its own', async () => {
    const quebec = { country: 'CA', region: 'QC' }
    await taxed({
      ...SETTINGS,
      taxLocations: [
        { country: 'CA', name: 'GST', rate: 5 },
        { ...quebec, name: 'GST', rate: 5 },
        { ...quebec, name: 'QST', rate: 9.975 },
      ],
    })
    expect(await firstInvoice(await place([{ plan: plan(100) }], in_('CA', 'QC')))).toMatchObject({
      amount: 114.98,
      tax: {
        amount: 14.98,
        items: [
          { description: 'GST 5%', amount: 5 },
          { description: 'QST 9.975%', amount: 9.98, stateAmount: 9.98, stateRate: 9.975 },
        ],
      },
      items: [{ tax: { amount: 14.98, description: 'GST 5% + QST 9.975%', rate: 14.975 } }],
    })
    expect(await firstInvoice(await place([{ plan: plan(100) }], in_('CA', 'ON')))).toMatchObject({
      amount: 105,
    })
  })

  test.each([
    ['where it is delivered', { deliveryAddress: { country: 'FR' }, ...in_('DE') }, 20],
    ['otherwise where it is billed to', in_('FR'), 20],
    ['otherwise where the customer is', {}, 19],
    ['not where no tax is collected', in_('US'), 0],
  ])('of an order are those of the place %s', async (_, members, amount) => {
    await taxed()
    const customer = await create(merchant.api, 'customers', { primaryAddress: { country: 'DE' } })
    const order = await place([{ plan: plan(100) }], { customerId: customer.id, ...members })
    expect(await firstInvoice(order)).toMatchObject({ amount: 100 + amount, tax: { amount } })
  })

  test('are one rate for everybody where no location is named, and none without a calculator', async () => {
    await taxed({ defaultTaxCalculator: { type: 'flat', rate: 8.5 } })
    expect(await firstInvoice(await place([{ plan: plan(100) }], {}))).toMatchObject({
      amount: 108.5,
      tax: { items: [{ description: 'Tax 8.5%' }] },
    })
    await taxed({ defaultTaxCalculator: null, taxLocations: [GERMANY] })
    expect(await firstInvoice(await place([{ plan: plan(100) }]))).toMatchObject({
      amount: 100,
      tax: { amount: 0, items: [] },
      items: [{ tax: null }],
    })
  })

  test('are owed by a business of another member state: nothing is charged, and the document says so', async () => {
    await taxed()
    const customer = await create(merchant.api, 'customers', {
      primaryAddress: { country: 'FR' },
      taxNumbers: [{ type: 'eu-vat', value: 'FR12345678901' }],
    })
    const invoice = await firstInvoice(await begun(100, { customerId: customer.id }))
    expect(invoice).toMatchObject({
      amount: 100,
      customerTaxIdNumber: { value: 'FR12345678901' },
      tax: { amount: 0, items: [{ description: 'Reverse charge', amount: 0, rate: 0, taxableAmount: 100 }] },
    })
    const response = await fetch(
      `${service.baseUrl}/organizations/${merchant.organizationId}/invoices/${invoice.id}`,
      { headers: { 'SVC-APIKEY': merchant.secretKey, Accept: 'application/pdf' } },
    )
    const written = pdfText(new Uint8Array(await response.arrayBuffer()))
      .flat()
      .join('\n')
    for (const text of [
      'VAT number: DE123456789',
      'VAT number: FR12345678901',
      'Reverse charge on 100.00 | 0.00',
      'Reverse charge: the recipient of the supply is liable',
    ]) {
      expect(written).toContain(text)
    }
  })

  test('are owed by a business whose VAT number is another one than its first or default', async () => {
    await taxed()
    const abroad = { type: 'eu-vat', value: 'FR12345678901' }
    for (const taxNumbers of [
      [{ type: 'other', value: '123' }, abroad],
      [abroad, { type: 'other', value: '123', isDefault: true }],
      [
        { type: 'eu-vat', value: 'DE987654321' },
        { ...abroad, isDefault: true },
      ],
      [{ type: 'eu-vat', value: 'FR1', isDefault: true }, abroad],
    ]) {
      const customer = await create(merchant.api, 'customers', {
        primaryAddress: { country: 'FR' },
        taxNumbers,
      })
      const members = { customerId: customer.id }
      expect(await firstInvoice(await begun(100, members))).toMatchObject({
        amount: 100,
        customerTaxIdNumber: abroad,
        tax: { items: [{ description: 'Reverse charge' }] },
      })
      const own = { ...members, websiteId: merchant.websiteId, currency: 'EUR' }
      const { id } = await create(merchant.api, 'invoices', {
        ...own,
        items: [{ type: 'debit', unitPrice: 100 }],
      })
      expect(await create(merchant.api, `invoices/${id}/issue`, {})).toMatchObject({
        amount: 100,
        customerTaxIdNumber: abroad,
      })
    }
    const customer = await create(merchant.api, 'customers', {
      primaryAddress: { country: 'DE' },
      taxNumbers: [
        { type: 'eu-vat', value: 'DE987654321' },
        { type: 'other', value: '123', isDefault: true },
      ],
    })
    expect(await firstInvoice(await begun(100, { customerId: customer.id }))).toMatchObject({
      amount: 119,
      customerTaxIdNumber: { type: 'other', value: '123' },
    })
  })

  test('are those of a VAT number of the organization that is not its default', async () => {
    await taxed(SETTINGS, {
      country: 'CH',
      taxNumbers: [
        { type: 'other', value: 'CHE-1', isDefault: true },
        { type: 'eu-vat', value: 'DE123456789' },
      ],
    })
    const customer = await create(merchant.api, 'customers', {
      primaryAddress: { country: 'FR' },
      taxNumbers: [{ type: 'eu-vat', value: 'FR12345678901' }],
    })
    expect(await firstInvoice(await begun(100, { customerId: customer.id }))).toMatchObject({
      amount: 100,
      organizationTaxIdNumber: { type: 'eu-vat', value: 'DE123456789' },
    })
  })

  test('of a draft follow addresses and rates; those of an issued invoice stay when rates change', async () => {
    await taxed()
    const startTime = new Date(Date.now() + DAY).toISOString()
    const draft = await place([{ plan: plan(100) }], { startTime, ...in_('DE') })
    const order = await read(`subscriptions/${draft.id}`)
    await merchant.api.put(`subscriptions/${draft.id}`, { ...order, ...in_('FR') })
    expect(await firstInvoice(draft)).toMatchObject({ status: 'draft', amount: 120 })

    const issued = await begun(100)
    await taxed({ ...SETTINGS, taxLocations: [{ ...GERMANY, rate: 25 }] })
    await merchant.api.put(`subscriptions/${issued.id}`, { ...issued, notes: 'Changed.' })
    expect(await firstInvoice(issued)).toMatchObject({ amount: 119, tax: { amount: 19 } })
    expect(await read(`subscriptions/${issued.id}/upcoming-invoice`)).toMatchObject({
      amount: 125,
      tax: { amount: 25, items: [{ rate: 25 }] },
      items: [{ tax: { amount: 25 } }],
    })
  })

  test('of what is drawn up are those of its products, which cannot be deleted before', async () => {
    await taxed()
    const book = `products/${bookId}`
    const draft = await create(merchant.api, 'invoices', {
      customerId: merchant.customerId,
      websiteId: merchant.websiteId,
      currency: 'EUR',
      items: [{ type: 'debit', unitPrice: 100, productId: bookId }],
      ...in_('DE'),
    })
    expect(draft).toMatchObject({ amount: 107 })
    expectProblem(await merchant.api.delete(book), 409, 'conflict')
    const issued = await create(merchant.api, `invoices/${draft.id}/issue`, {})
    expect(issued).toMatchObject({ status: 'unpaid', amount: 107 })
    expect((await merchant.api.delete(book)).status).toBe(204)
    expect(await read(`invoices/${draft.id}`)).toMatchObject({ amount: 107 })
  })

  test.each([
    [
      'credit more than its debits',
      {
        currency: 'EUR',
        items: [
          { type: 'debit', unitPrice: 100 },
          { type: 'credit', unitPrice: 100 },
        ],
      },
      12,
    ],
    [
      'come to more than an amount may',
      { currency: 'VND', items: [{ type: 'debit', unitPrice: 9e11 }] },
      9e11,
    ],
  ])('that make a draft %s do not issue it: 422, and no number', async (_, given, amount) => {
    // The second item, of another product, has another rate.
    const items = given.items.map((item, index) => (index === 0 ? item : { ...item, productId: bookId }))
    await taxed({ ...SETTINGS, taxLocations: given.currency === 'EUR' ? [GERMANY] : [FRANCE] })
    const { customerId, websiteId } = merchant
    const members = { customerId, websiteId, ...given, items, ...in_('DE') }
    const draft = await create(merchant.api, 'invoices', members)
    expect(draft).toMatchObject({ amount })
    await taxed({
      ...SETTINGS,
      taxLocations: [{ ...GERMANY, categories: [{ taxCategoryId: 'books', rate: 25 }] }],
    })
    const refused = await merchant.api.post(`invoices/${draft.id}/issue`, {})
    expect(expectProblem(refused, 422, 'validation-error')).toEqual(['items'])
    expect(await read(`invoices/${draft.id}`)).toMatchObject({ status: 'draft', amount, invoiceNumber: null })
    await taxed({ ...SETTINGS, taxLocations: [FRANCE] })
    expect(await create(merchant.api, `invoices/${draft.id}/issue`, {})).toMatchObject({
      amount: given.currency === 'EUR' ? 0 : amount,
    })
  })

  test('of used time are those of what was used, at its end too, though the order has other items', async () => {
    await taxed()
    const postpaid = { recurringInterval: { unit: 'day', length: 30, billingTiming: 'postpaid' } }
    const startTime = new Date(Date.now() - 15 * DAY).toISOString()
    const items = [{ plan: plan(200, { productId: bookId, ...postpaid }) }]
    const order = await advanced(await place(items, { startTime, ...in_('DE') }))
    const change = { items: [{ plan: plan(2, postpaid) }], prorated: true, renewalPolicy: 'retain' }
    await create(merchant.api, `subscriptions/${order.id}/change-items`, change)
    const whole = {
      amount: near(108.19),
      items: [
        { productId: bookId, price: near(100), tax: { rate: 7, amount: near(7) } },
        { productId: null, price: near(1), tax: { rate: 19, amount: 0.19 } },
      ],
    }
    expect(await read(`subscriptions/${order.id}/upcoming-invoice`)).toMatchObject(whole)
    expectProblem(await merchant.api.delete(`products/${bookId}`), 409, 'conflict')
    await create(merchant.api, 'subscription-cancellations', { subscriptionId: order.id })
    const { recentInvoiceId } = await read(`subscriptions/${order.id}`)
    expect(await read(`invoices/${recentInvoiceId}`)).toMatchObject(whole)
  })

  test('of unused time are credited at the rate at which they were charged', async () => {
    await taxed()
    const order = await begun(20)
    await taxed({ ...SETTINGS, taxLocations: [{ ...GERMANY, rate: 25 }] })
    const change = { items: [{ plan: plan(40) }], renewalPolicy: 'retain', prorated: true }
    const changed = await merchant.api.post<Body>(`subscriptions/${order.id}/change-items`, change)
    expect(changed.status).toBe(201)
    const invoice = await read(`invoices/${changed.body.recentInvoiceId}`)
    expect(invoice).toMatchObject({
      type: 'interim',
      amount: near(13.1),
      tax: {
        amount: near(3.1),
        items: [
          { rate: 19, amount: near(-1.9) },
          { rate: 25, amount: near(5) },
        ],
      },
      items: [
        { type: 'credit', price: near(10), tax: { amount: near(1.9), rate: 19 } },
        { type: 'debit', price: near(20), tax: { amount: near(5), rate: 25 } },
      ],
    })
    const cheaper = { ...change, items: [{ plan: plan(2) }] }
    await merchant.api.post(`subscriptions/${order.id}/change-items`, cheaper)
    expect(await read(`subscriptions/${order.id}/upcoming-invoice`)).toMatchObject({
      amount: 0,
      items: [
        { price: 2, tax: { amount: 0.5 } },
        { type: 'debit', price: near(1), tax: { amount: near(0.25) } },
        { type: 'credit', tax: { rate: 25 } },
      ],
    })
  })

  test('that come into force later are those of invoices from then on', async () => {
    const startTime = new Date(Date.now() + 20 * DAY).toISOString()
    await taxed({ ...SETTINGS, taxLocations: [GERMANY, { ...GERMANY, rate: 16, startTime }] })
    const order = await begun(100)
    expect(await firstInvoice(order)).toMatchObject({ amount: 119 })
    expect(await read(`subscriptions/${order.id}/upcoming-invoice`)).toMatchObject({ amount: 119 })
    const next = await advanced(await place([{ plan: plan(100) }]))
    expect(await read(`subscriptions/${next.id}/upcoming-invoice`)).toMatchObject({ amount: 116 })
  })

  test('are seen by the customer in the storefront', async () => {
    await taxed()
    const { initialInvoiceId } = await begun(100)
    const { token } = await create(merchant.api, 'authentication-tokens', {
      mode: 'passwordless',
      customerId: merchant.customerId,
    })
    const acl = [{ permissions: ['StorefrontGetInvoice'] }]
    const issued = await create(merchant.api, `authentication-tokens/${token}/exchange`, { acl })
    const response = await fetch(
      `${service.baseUrl}/organizations/${merchant.organizationId}/storefront/invoices/${initialInvoiceId}`,
      { headers: { Authorization: `Bearer ${issued.token}` } },
    )
    expect(await response.json()).toMatchObject({ amount: 119, tax: { amount: 19 } })
  })

  test.each<[string, object, string[]]>([
    ['a provider', { defaultTaxCalculator: { type: 'avalara' } }, ['settings.defaultTaxCalculator.type']],
    [
      'a rate above 100',
      { defaultTaxCalculator: { type: 'flat', rate: 101 } },
      ['settings.defaultTaxCalculator.rate'],
    ],
    ['no rate at all', { defaultTaxCalculator: { type: 'flat' } }, ['settings.defaultTaxCalculator.rate']],
    [
      'a location without a rate, where there is none to fall back on',
      { defaultTaxCalculator: { type: 'flat' }, taxLocations: [GERMANY, { country: 'FR' }] },
      ['settings.taxLocations.1.rate'],
    ],
    [
      'two rates of one tax',
      { taxLocations: [GERMANY, { ...GERMANY, rate: 7 }] },
      ['settings.taxLocations.1'],
    ],
    [
      'a category twice',
      { taxLocations: [{ ...GERMANY, categories: [GERMANY.categories[0], GERMANY.categories[0]] }] },
      ['settings.taxLocations.0.categories'],
    ],
    ['no country', { taxLocations: [{ rate: 7 }] }, ['settings.taxLocations.0.country']],
  ])('are refused with %s', async (_, settings, fields) => {
    expect(expectProblem(await patch({ settings }), 422, 'validation-error')).toEqual(fields)
  })

  test('that lead beyond the largest amount are refused', async () => {
    await taxed()
    const items = [{ plan: plan(999_999_999_999) }]
    const refused = await merchant.api.post('subscriptions', orderBody(merchant, { items, ...in_('DE') }))
    expect(expectProblem(refused, 422, 'validation-error')).toEqual(['items'])
  })
})
