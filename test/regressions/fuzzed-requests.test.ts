/** What Schemathesis has found (`npm run fuzz`). The client of the tests compares each response with the document. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { customerBrowser } from '../support/customer-browser.ts'
import { startService, type TestService } from '../support/service.ts'

interface Document {
  readonly paths: Record<
    string,
    { get?: { parameters?: { name?: string; schema?: { items?: { enum?: string[] } } }[] } }
  >
}

describe('a request made from the document', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  test('previews an order with addresses, which have their digests', async () => {
    const { status, body } = await merchant.api.post('previews/orders', {
      websiteId: merchant.websiteId,
      items: [{ planId: merchant.planId }],
      billingAddress: { city: 'Utrecht' },
      deliveryAddress: { city: 'Berlin' },
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      billingAddress: { city: 'Utrecht', hash: expect.any(String) },
      deliveryAddress: { city: 'Berlin', hash: expect.any(String) },
    })
  })
  test.each(['discount.context', '-discount.context'])(
    'sorts coupons by %s, which is the same of all',
    async (sort) => {
      expect((await merchant.api.get(`coupons?sort=${sort}`)).status).toBe(200)
    },
  )

  test('sorts and filters each list by every member that the document names', async () => {
    const { body: document } = await merchant.api.get<Document>('/openapi.json')
    const browser = await customerBrowser(service, merchant)
    const lists = Object.entries(document.paths).flatMap(([path, { get }]) => {
      const sort = get?.parameters?.find(({ name }) => name === 'sort')?.schema?.items?.enum ?? []
      // The timelines of all resources are one piece of code.
      return sort.length === 0 || (path.includes('/{id}/') && !path.includes('/customers/'))
        ? []
        : [{ path, sort }]
    })
    expect(lists.length).toBeGreaterThan(25)
    for (const { path, sort } of lists) {
      const list = path
        .replace('{organizationId}', merchant.organizationId)
        .replace('{id}', merchant.customerId)
      const caller = path.includes('/storefront/') ? browser : merchant.api
      const names = sort.filter((name) => !name.startsWith('-'))
      // A filter has at most 100 values.
      for (let from = 0; from < names.length; from += 100) {
        const some = names.slice(from, from + 100)
        const query = new URLSearchParams({
          sort: some.flatMap((name) => [name, `-${name}`]).join(','),
          filter: some.map((name) => `${name}:null`).join(';'),
        })
        const { status, body } = await caller.get(`${list}?${query}`)
        expect({ path, status, ...(status === 200 ? {} : { body }) }).toEqual({ path, status: 200 })
      }
    }
  })
})
