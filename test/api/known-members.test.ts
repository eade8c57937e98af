import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { isNeutral } from '../../api/schemas/not-supported.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'

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
