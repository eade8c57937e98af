/** Callers choose ids. Amounts are kept by invoice id, and other facts by other ids. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'

describe.each(['__proto__', 'constructor', 'toString'])('the id %s, which every object inherits', (id) => {
  let service: TestService
  let merchant: Catalogue
  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const put = async (path: string, body: object) => {
    const { status, body: made } = await merchant.api.put(`${path}/${id}`, body)
    expect({ path, status, id: made.id }).toEqual({ path, status: 201, id })
    return made
  }

  test('is taken by what an order is of', async () => {
    const { api } = merchant
    const name = 'Chosen'
    await put('websites', {
      name,
      url: 'https://shop.example',
      servicePhone: '1',
      serviceEmail: 'a@shop.example',
    })
    const customer = await put('customers', { firstName: name, customFields: { [id]: { [id]: [1] } } })
    expect(JSON.stringify(customer.customFields)).toBe(`{"${id}":{"${id}":[1]}}`)
    const again = await api.put(`customers/${id}`, customer)
    expect([again.status, again.body.revision]).toEqual([200, 1])
    await put('products', { name, taxCategoryId: null })
    await put('plans', {
      name,
      productId: id,
      currency: 'EUR',
      pricing: { formula: 'fixed-fee', price: 5 },
      recurringInterval: { unit: 'month', length: 1 },
    })
    const order = await put(
      'subscriptions',
      orderBody(merchant, { customerId: id, websiteId: id, items: [{ plan: { id } }] }),
    )
    expect(order).toMatchObject({ status: 'pending', items: [{ plan: { id }, isGrandfathered: false }] })
  })

  test('is taken by an invoice, whose payment and refund it shows', async () => {
    const { api, customerId, websiteId } = merchant
    await put('invoices', {
      customerId,
      websiteId,
      currency: 'EUR',
      items: [{ type: 'debit', description: 'Work', unitPrice: 100 }],
    })
    expect((await api.post(`invoices/${id}/issue`, {})).status).toBe(201)
    const token = await makeToken(api)
    const sale = await api.post('transactions', {
      type: 'sale',
      customerId,
      currency: 'EUR',
      amount: 100,
      paymentInstruction: { token },
      invoiceIds: [id],
    })
    expect(sale.body).toMatchObject({ result: 'approved', invoiceIds: [id] })
    expect((await api.get(`invoices/${id}`)).body).toMatchObject({ status: 'paid', amountDue: 0 })
    const allocations = await api.get(`invoices/${id}/transaction-allocations`)
    expect(allocations.body).toMatchObject([{ invoiceId: id, transactionId: sale.body.id, amount: 100 }])
    const refund = await api.post(`transactions/${sale.body.id}/refund`, { amount: 40 })
    expect(refund.body).toMatchObject({ type: 'refund', result: 'approved', amount: 40 })
    expect((await api.get(`invoices/${id}`)).body).toMatchObject({ status: 'partially-refunded' })
  })
})
