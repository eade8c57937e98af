import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { ApiClient } from '../support/api-client.ts'
import { create } from '../support/create.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'

describe('a shipping rate', () => {
  let service: TestService
  let api: ApiClient

  beforeAll(async () => {
    service = await startService({ worker: false })
    api = (await service.organization()).api
  })
  afterAll(() => service.stop())

  const RATE = { name: 'Standard', price: 4.9, currency: 'EUR' }

  test('is made, read, listed, changed and deleted', async () => {
    const made = await create(api, 'shipping-rates', { ...RATE, description: 'Three days.' })
    expect(made).toMatchObject({
      id: expect.stringMatching(/^rate_/),
      ...RATE,
      description: 'Three days.',
      status: 'active',
      filter: '',
      revision: 1,
    })
    const path = `shipping-rates/${made.id}`
    expect((await api.get(path)).body).toEqual(made)
    await create(api, 'shipping-rates', { ...RATE, name: 'Express', price: 12 })
    const cheap = await api.get<object[]>(
      'shipping-rates?filter=price:..5;status:active&sort=price&q=standard',
    )
    expect(cheap.body).toEqual([made])
    const same = await api.put(path, made)
    expect({ status: same.status, revision: same.body.revision }).toEqual({ status: 200, revision: 1 })
    const changed = await api.put(path, { ...RATE, price: 5, status: 'inactive' })
    expect(changed.body).toMatchObject({ price: 5, status: 'inactive', description: null, revision: 2 })
    const put = await api.put('shipping-rates/pickup', { ...RATE, name: 'Pick-up', price: 0 })
    expect({ status: put.status, body: put.body }).toMatchObject({
      status: 201,
      body: { id: 'pickup', price: 0 },
    })
    expect((await api.delete(path)).status).toBe(204)
    expectProblem(await api.get(path), 404, 'not-found')
  })

  test.each([
    ['nothing', {}, ['currency', 'name', 'price']],
    ['a negative price', { ...RATE, price: -1 }, ['price']],
    ['more decimals than its currency has', { ...RATE, price: 1.005 }, ['price']],
    ['decimals of a currency without any', { ...RATE, price: 1.5, currency: 'JPY' }, ['price']],
    ['an unknown currency', { ...RATE, currency: 'ABC' }, ['currency']],
    ['another status', { ...RATE, status: 'draft' }, ['status']],
    ['a filter, which is not supported yet', { ...RATE, filter: 'country:DE' }, ['filter']],
  ])('is refused with %s: 422', async (_, body, fields) => {
    expect(expectProblem(await api.post('shipping-rates', body), 422, 'validation-error')).toEqual(fields)
  })
})
