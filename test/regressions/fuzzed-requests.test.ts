/** What Schemathesis has found (`npm run fuzz`). The client of the tests compares each response with the document. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'

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
})
