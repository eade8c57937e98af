import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { isNeutral } from '../../api/schemas/not-supported.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'

interface Invoice extends Record<string, unknown> {
  readonly tax: object
  readonly items: readonly object[]
}

describe('a request as clients of this interface send it', () => {
  let service: TestService
  let merchant: Catalogue
  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await catalogue(service, {})
  })
  afterAll(() => service.stop())

  const NEUTRAL = {
    requiresShipping: false,
    options: [],
    accountingCode: null,
    recognition: null,
  }

  test('a member that is not supported yet is taken at its neutral value, and answered at it', async () => {
    for (const given of [{}, NEUTRAL, { requiresShipping: null, options: null, recognition: {} }]) {
      const made = await merchant.api.post('products', { name: 'Seat', ...given })
      expect(made.status).toBe(201)
      expect(made.body).toMatchObject(NEUTRAL)
      const read = await merchant.api.get(`products/${made.body.id}`)
      expect(read.body).toEqual(made.body)
      const listed = await merchant.api.get<object[]>('products?limit=1')
      expect(listed.body[0]).toMatchObject(NEUTRAL)
    }
  })

  describe('that states what only the service decides', () => {
    const taxed = async (rate: number | null) => {
      const patched = await merchant.api.send('PATCH', '', {
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({
          settings: { defaultTaxCalculator: rate === null ? null : { type: 'flat', rate } },
        }),
      })
      expect(patched.status).toBe(200)
    }
    const invoiceOf = (members: object) => ({
      customerId: merchant.customerId,
      websiteId: merchant.websiteId,
      currency: 'EUR',
      items: [{ type: 'debit', unitPrice: 100 }],
      ...members,
    })
    const NO_TAX = { calculator: 'manual', amount: 0, items: [] }
    const VAT = { amount: 19, description: 'VAT' }

    test('is refused by 422 for the gateway account of a sale, and the sale is not made', async () => {
      const sale = {
        type: 'sale',
        customerId: merchant.customerId,
        currency: 'EUR',
        amount: 5,
        paymentInstruction: { method: 'external' },
      }
      const refused = await merchant.api.post('transactions', { ...sale, gatewayAccountId: 'eu' })
      expect(expectProblem(refused, 422, 'validation-error')).toEqual(['gatewayAccountId'])
      const made = await merchant.api.post('transactions', { ...sale, gatewayAccountId: null })
      expect(made.status).toBe(201)
      const listed = await merchant.api.get<object[]>('transactions')
      expect(listed.body.map((one) => (one as { id: string }).id)).toEqual([made.body.id])
    })

    test('is refused by 422 for another risk of a stored card, and taken as it was read', async () => {
      const { body: card } = await merchant.api.post('payment-instruments', {
        customerId: merchant.customerId,
        token: await makeToken(merchant.api, TEST_CARDS.approves),
        riskMetadata: { ipAddress: '203.0.113.7' },
      })
      const patched = (body: object) =>
        merchant.api.send('PATCH', `payment-instruments/${card.id}`, {
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        })
      expect(await patched(card)).toMatchObject({ status: 200, body: card })
      const other = await patched({ riskMetadata: { ipAddress: '203.0.113.8' } })
      expect(expectProblem(other, 422, 'validation-error')).toEqual(['riskMetadata'])
    })

    test.each([
      ['an invoice', { tax: { ...NO_TAX, items: [VAT] } }, ['tax']],
      ['another calculator', { tax: { ...NO_TAX, calculator: 'taxjar' } }, ['tax']],
      ['an item', { items: [{ type: 'debit', unitPrice: 100, tax: VAT }] }, ['items.0.tax']],
    ])('is refused by 422 for the taxes of %s', async (_, members, fields) => {
      for (const send of [merchant.api.post, merchant.api.put]) {
        const path = send === merchant.api.put ? 'invoices/stated' : 'invoices'
        expect(expectProblem(await send(path, invoiceOf(members)), 422, 'validation-error')).toEqual(fields)
      }
    })

    test('is passed over for the taxes of an invoice that is replaced, which may be those of an earlier copy', async () => {
      const { api } = merchant
      const plain = await api.post('invoices', invoiceOf({ tax: NO_TAX }))
      expect([plain.status, plain.body.amount]).toEqual([201, 100])
      await taxed(19)
      const made = await api.post<Invoice>('invoices', invoiceOf({ tax: null }))
      expect(made.body).toMatchObject({ amount: 119, tax: { amount: 19 }, items: [{ tax: { amount: 19 } }] })
      const path = `invoices/${made.body.id}`
      expect(await api.put(path, made.body)).toMatchObject({ status: 200, body: made.body })
      const [item] = made.body.items
      const two = { ...made.body, items: [{ type: 'debit', unitPrice: 10 }, item] }
      const changed = await api.put<Invoice>(path, two)
      expect(changed).toMatchObject({ status: 200, body: { amount: 130.9, tax: { amount: 20.9 } } })
      const [first, second] = changed.body.items
      const dearer = { ...changed.body, items: [{ ...first, unitPrice: 20 }, second] }
      const once = await api.put(path, dearer)
      expect(once).toMatchObject({ status: 200, body: { amount: 142.8, tax: { amount: 22.8 } } })
      expect(await api.put(path, dearer)).toMatchObject({ status: 200, body: once.body })
      const added = { ...changed.body, items: [first, { type: 'debit', unitPrice: 5, tax: VAT }] }
      expect(expectProblem(await api.put(path, added), 422, 'validation-error')).toEqual(['items.1.tax'])
      await taxed(null)
    })

    test('is refused by 422 for the tax of a new item of an invoice, and passed over where it is replaced', async () => {
      const { api } = merchant
      await taxed(19)
      const { body: invoice } = await api.post('invoices', invoiceOf({ items: [] }))
      const path = `invoices/${invoice.id}/items`
      const item = { type: 'debit', unitPrice: 100 }
      const refused = await api.post(path, { ...item, tax: { amount: 7, description: 'VAT' } })
      expect(expectProblem(refused, 422, 'validation-error')).toEqual(['tax'])
      const made = await api.post(path, { ...item, tax: null })
      expect(made).toMatchObject({ status: 201, body: { tax: { amount: 19 } } })
      const own = `${path}/${made.body.id}`
      for (let time = 1; time <= 2; time += 1) {
        expect(await api.put(own, { ...made.body, unitPrice: 200 })).toMatchObject({
          status: 200,
          body: { price: 200, tax: { amount: 38 } },
        })
      }
      await taxed(null)
    })
  })

  test('an empty list stands for an empty map, as clients in PHP write it', async () => {
    const made = await merchant.api.post('customers', { customFields: [], leadSource: [] })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ customFields: {} })
    const path = `customers/${made.body.id}`
    const filled = { customFields: { size: 'L' }, primaryAddress: { city: 'Berlin' } }
    expect((await merchant.api.put(path, filled)).body).toMatchObject(filled)
    const emptied = await merchant.api.put(path, { customFields: [], primaryAddress: [] })
    expect(emptied.status).toBe(200)
    expect(emptied.body).toMatchObject({ customFields: {} })
    const organization = (await merchant.api.get('')).body
    const patched = await merchant.api.send('PATCH', '', {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ settings: [] }),
    })
    expect(patched).toMatchObject({ status: 200, body: organization })
  })

  test('a list that is not empty stands for no map', async () => {
    const made = await merchant.api.post('customers', { customFields: ['L'] })
    expect(expectProblem(made, 422, 'validation-error')).toEqual(['customFields'])
    expect((made.body as { invalidFields: object[] }).invalidFields).toEqual([
      expect.objectContaining({ code: 'wrong-type' }),
    ])
  })

  test('a member that is not supported yet is refused at any other value, and a typo as unknown', async () => {
    const made = await merchant.api.post('products', {
      name: 'Seat',
      requiresShipping: true,
      options: ['size'],
      recognition: { debitAccountId: '7' },
      unitlabel: 'seat',
    })
    expect(expectProblem(made, 422, 'validation-error').toSorted()).toEqual([
      'options',
      'recognition',
      'requiresShipping',
      'unitlabel',
    ])
    const { invalidFields } = made.body as { invalidFields: { field: string; message: string }[] }
    expect(invalidFields.find(({ field }) => field === 'options')?.message).toMatch(/not supported yet/)
  })

  test.each([
    [null, null, true],
    [[], null, true],
    [{ a: null, b: { c: 0 } }, null, true],
    ['unsubscribe', 'unsubscribe', true],
    [[1], [1], true],
    [[1], [], false],
    [{ a: 1 }, {}, false],
    [{ a: 'x' }, { a: 'x' }, true],
    [1, 0, false],
    ['x', '', false],
    [true, false, false],
  ])('%j beside the neutral %j: %s', (value, neutral, expected) => {
    expect(isNeutral(value, neutral)).toBe(expected)
  })

  test('null clears an optional member, or returns it to its default', async () => {
    const made = await merchant.api.post('products', {
      name: 'Seat',
      unitLabel: 'seat',
      customFields: { a: 1 },
    })
    const path = `products/${made.body.id}`
    const cleared = await merchant.api.put(path, { name: 'Seat', unitLabel: null, customFields: null })
    expect(cleared.status).toBe(200)
    expect(cleared.body).toMatchObject({ unitLabel: null, customFields: {} })
    expect(expectProblem(await merchant.api.put(path, { name: null }), 422, 'validation-error')).toEqual([
      'name',
    ])
    const inside = await merchant.api.post('customers', {
      primaryAddress: { phoneNumbers: [{ label: 'main', value: '1', primary: null }] },
    })
    expect(inside.status).toBe(201)
  })

  test('one trailing slash is ignored, two are another path', async () => {
    expect((await merchant.api.get('products/')).status).toBe(200)
    expect((await merchant.api.get('products/?limit=1')).status).toBe(200)
    expect((await merchant.api.post('products/', { name: 'Seat' })).status).toBe(201)
    expectProblem(await merchant.api.get('products//'), 404, 'not-found')
    expect((await merchant.api.get('/status/')).status).toBe(200)
  })

  test('the status is answered below an organization as well, without a credential', async () => {
    const response = await fetch(`${service.baseUrl}/organizations/${merchant.organizationId}/status/`)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ status: 'ok' })
  })

  test('fields selects members of a read and of a list; a name that does not exist is 400', async () => {
    const made = await merchant.api.post('products', { name: 'Seat' })
    const one = await merchant.api.get(`products/${made.body.id}?fields=id,name`)
    expect(one.body).toEqual({ id: made.body.id, name: 'Seat' })
    expect(one.headers.get('etag')).toBeNull()
    const many = await merchant.api.get<object[]>('products?fields=options&limit=1')
    expect(many.body).toEqual([{ options: [] }])
    const wrong = await merchant.api.get('products?fields=id,colour')
    expect(expectProblem(wrong, 400, 'malformed-request')).toEqual(['fields'])
  })
})
