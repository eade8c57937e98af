import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { pngLogo } from '../support/logo.ts'
import { pdfText } from '../support/pdf-text.ts'
import { startService, type TestService } from '../support/service.ts'

describe('an invoice as a document', () => {
  let service: TestService
  let merchant: Catalogue
  let invoiceId: string

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
    const settings = { documents: { logo: pngLogo() } }
    const organization = {
      name: 'Łódź Audio',
      country: 'PL',
      settings,
      taxNumbers: [{ type: 'eu-vat', value: 'PL1' }],
    }
    expect((await merchant.api.put('', organization)).status).toBe(200)
    const order = await create(merchant.api, 'subscriptions', orderBody(merchant, { poNumber: 'PO 7' }))
    await merchant.api.put(`subscriptions/${order.id}`, { ...order, notes: 'Begun.' })
    invoiceId = String(order.initialInvoiceId)
  })
  afterAll(() => service.stop())

  const get = (path: string, headers: Record<string, string>) =>
    fetch(`${service.baseUrl}/organizations/${merchant.organizationId}/${path}`, {
      headers: 'Authorization' in headers ? headers : { 'SVC-APIKEY': merchant.secretKey, ...headers },
    })
  const document = async (path: string, headers: Record<string, string> = {}) => {
    const response = await get(path, { Accept: 'application/pdf', ...headers })
    expect({ status: response.status, type: response.headers.get('content-type') }).toEqual({
      status: 200,
      type: 'application/pdf',
    })
    return { headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
  }

  const customerToken = async (customerId: string) => {
    const { token } = await create(merchant.api, 'authentication-tokens', {
      mode: 'passwordless',
      customerId,
    })
    const acl = [{ permissions: ['StorefrontGetInvoice'] }]
    const issued = await create(merchant.api, `authentication-tokens/${token}/exchange`, { acl })
    return `Bearer ${issued.token}`
  }

  test('is a PDF with its number, parties, lines, amounts and logo', async () => {
    const { headers, bytes } = await document(`invoices/${invoiceId}`)
    expect(bytes.subarray(0, 5).toString()).toBe('%PDF-')
    expect(headers.get('content-disposition')).toBe('inline; filename="invoice-1.pdf"')
    expect(headers.get('vary')).toContain('Accept')
    expect(headers.get('etag')).toBeNull()
    const written = pdfText(bytes).flat().join('\n')
    for (const text of [
      'Łódź Audio',
      'VAT number: PL1',
      'Invoice number | 1',
      'Purchase order | PO 7',
      'Ada',
      'Monthly | 1 | 9.90 | 9.90',
      'Amount due | EUR 9.90',
    ]) {
      expect(written).toContain(text)
    }
    expect(bytes.toString('latin1')).toContain('/Subtype /Image')
  })

  test('shows each discount between the subtotal and the total', async () => {
    const coupon = await create(merchant.api, 'coupons', {
      description: 'Spring offer',
      discount: { type: 'percent', value: 10 },
    })
    const order = await create(merchant.api, 'subscriptions', orderBody(merchant, { couponIds: [coupon.id] }))
    const { bytes } = await document(`invoices/${order.initialInvoiceId}`)
    const written = pdfText(bytes).flat().join('\n')
    expect(written).toContain('Subtotal | 9.90\nSpring offer | −0.99\n')
    expect(written).toContain('Amount due | EUR 8.91')
  })

  test.each([
    ['nothing', undefined],
    ['anything', '*/*'],
    ['JSON', 'application/json'],
    ['JSON rather than PDF', 'application/pdf;q=0.5, application/json'],
    ['what there is not', 'text/html'],
  ])('is JSON for a caller that asks for %s', async (_, accept) => {
    const response = await get(`invoices/${invoiceId}`, accept === undefined ? {} : { Accept: accept })
    expect(response.headers.get('content-type')).toContain('application/json')
    expect(await response.json()).toMatchObject({ id: invoiceId, invoiceNumber: 1 })
  })

  test('is the issued one: the organization of then, a draft as such, and a nonexistent one not found', async () => {
    const startTime = new Date(Date.now() + 86_400_000).toISOString()
    const order = await create(merchant.api, 'subscriptions', orderBody(merchant, { startTime }))
    const draft = await document(`invoices/${order.initialInvoiceId}`)
    expect(pdfText(draft.bytes).flat().join('\n')).toContain('Draft invoice')
    await merchant.api.send('PATCH', '', {
      body: JSON.stringify({ name: 'Renamed' }),
      headers: { 'Content-Type': 'application/json' },
    })
    const written = pdfText((await document(`invoices/${invoiceId}`)).bytes)
      .flat()
      .join('\n')
    expect(written).toContain('Łódź Audio')
    expect(written).not.toContain('Renamed')
    const missing = await merchant.api.get('invoices/none', { Accept: 'application/pdf' })
    expectProblem(missing, 404, 'not-found')
  })

  test('is for its customer in the storefront, and for no other', async () => {
    const path = `storefront/invoices/${invoiceId}`
    const { bytes } = await document(path, { Authorization: await customerToken(merchant.customerId) })
    expect(pdfText(bytes).flat().join('\n')).toContain('Amount due | EUR 9.90')
    const { id: other } = await create(merchant.api, 'customers', {})
    const stranger = await customerToken(String(other))
    const refused = await get(path, { Accept: 'application/pdf', Authorization: stranger })
    expect(refused.status).toBe(404)
  })

  test('has a logo that is checked when it is set, kept by PATCH and shown as it was sent', async () => {
    const logo = pngLogo(60, 60)
    const patch = (settings: object) =>
      merchant.api.send<{ settings: object }>('PATCH', '', {
        body: JSON.stringify({ settings }),
        headers: { 'Content-Type': 'application/json' },
      })
    expect((await patch({ documents: { logo } })).body.settings).toMatchObject({ documents: { logo } })
    expect((await patch({ billing: { pendingOrderTtl: 'P1D' } })).body.settings).toMatchObject({
      documents: { logo },
    })
    const refused = await patch({ documents: { logo: 'data:image/png;base64,AAAA' } })
    expectProblem(refused, 422, 'validation-error')
    expect(refused.body).toMatchObject({
      invalidFields: [{ field: 'settings.documents.logo', code: 'wrong-format' }],
    })
    expect((await patch({ documents: { logo: null } })).body.settings).toMatchObject({
      documents: { logo: null },
    })
  })

  test('of very many lines holds up no other request', async () => {
    const { api, customerId, websiteId } = merchant
    const description = 'Consulting services, as agreed. '.repeat(30)
    const items = Array.from({ length: 150 }, () => ({
      type: 'debit',
      description,
      unitPrice: 1,
      quantity: 1,
    }))
    const long = await create(api, 'invoices', { customerId, websiteId, currency: 'EUR', items })
    const ended: string[] = []
    const making = document(`invoices/${long.id}`).then(({ bytes }) => {
      ended.push('document')
      return bytes
    })
    for (let read = 0; read < 5; read += 1) {
      await api.get('websites?limit=0')
      ended.push('read')
    }
    expect(pdfText(await making).length).toBeGreaterThan(20)
    expect(ended).toEqual([...Array.from({ length: 5 }, () => 'read'), 'document'])
  })
})
