import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { ROUTES } from '../../api/routes.ts'
import type { ApiClient } from '../support/api-client.ts'
import { type Catalogue, makeCatalogue, orderBody } from '../support/catalogue.ts'
import { externalSale } from '../support/dispute.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'

type Body = Record<string, unknown>

const RESOURCES = ['customers', 'gateway-accounts', 'plans', 'products', 'subscriptions', 'websites']
const PATCHED = ['payment-instruments', 'transactions']

describe('custom fields', () => {
  let service: TestService
  let merchant: Catalogue
  let api: ApiClient

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
  })
  beforeEach(async () => {
    merchant = await makeCatalogue(await service.organization())
    api = merchant.api
  })
  afterAll(() => service.stop())

  const define = async (resource: string, name: string, body: object): Promise<Body> => {
    const response = await api.put<Body>(`custom-fields/${resource}/${name}`, body)
    expect({ status: response.status, body: response.status === 201 ? null : response.body }).toEqual({
      status: 201,
      body: null,
    })
    return response.body
  }

  test('are defined by PUT, read and listed', async () => {
    const at = 'custom-fields/customers/shirt_size'
    const body = { type: 'string', additionalSchema: { allowedValues: ['S', 'M'], required: true } }
    const made = await api.put<Body>(at, body)
    const url = `${service.baseUrl}/organizations/${merchant.organizationId}/${at}`
    expect(made.status).toBe(201)
    expect(made.headers.get('location')).toBe(url)
    expect(made.headers.get('etag')).toBe('"1"')
    expect(made.body).toEqual({
      name: 'shirt_size',
      ...body,
      description: null,
      isEnabled: true,
      revision: 1,
      createdTime: expect.stringMatching(/Z$/),
      updatedTime: made.body.createdTime,
      _links: [{ rel: 'self', href: url }],
    })
    expect((await api.get(at)).body).toEqual(made.body)
    expect((await api.get(at, { 'If-None-Match': '"1"' })).status).toBe(304)
    const same = await api.put<Body>(at, made.body)
    expect({ status: same.status, body: same.body }).toEqual({ status: 200, body: made.body })
    const changed = await api.put<Body>(at, {
      ...made.body,
      description: 'Of the shirt',
      additionalSchema: null,
    })
    expect(changed).toMatchObject({
      status: 200,
      body: { description: 'Of the shirt', additionalSchema: null, revision: 2 },
    })
    await define('customers', 'age', { type: 'integer' })
    await define('products', 'age', { type: 'number' })
    const names = async (resource: string, query = '') =>
      (await api.get<{ name: string }[]>(`custom-fields/${resource}${query}`)).body.map(({ name }) => name)
    expect((await names('customers')).toSorted()).toEqual(['age', 'shirt_size'])
    expect(await names('products')).toEqual(['age'])
    expect(await names('websites')).toEqual([])
    expect(await names('customers', '?limit=1&offset=1')).toHaveLength(1)
    expect((await api.get<Body>('custom-fields/products/age')).body).toMatchObject({ type: 'number' })
  })

  test('are refused with what is wrong with them: 422', async () => {
    const put = (body: object, name = 'x') => api.put(`custom-fields/customers/${name}`, body)
    for (const [body, fields] of [
      [{}, ['type']],
      [{ type: 'map' }, ['type']],
      [{ type: 'boolean', additionalSchema: { minimum: 1 } }, ['additionalSchema.minimum']],
      [{ type: 'string', additionalSchema: { maxLength: 4001 } }, ['additionalSchema.maxLength']],
      [{ type: 'string', additionalSchema: { length: 3 } }, ['additionalSchema.length']],
      [{ type: 'string', additionalSchema: { pattern: '(?!a)' } }, ['additionalSchema.pattern']],
      [{ type: 'integer', additionalSchema: { default: 'one' } }, ['additionalSchema.default']],
    ] as const) {
      expect(expectProblem(await put(body), 422, 'validation-error')).toEqual(fields)
    }
    for (const name of ['a.b', 'x'.repeat(61), 'größe']) {
      const response = await put({ type: 'string' }, encodeURIComponent(name))
      expect(expectProblem(response, 422, 'validation-error')).toEqual(['name'])
    }
  })

  test('can be sent back with a pattern that new ones cannot have', async () => {
    const at = 'custom-fields/customers/x'
    await define('customers', 'x', { type: 'string', additionalSchema: { maxLength: 4000, pattern: 'a$' } })
    await service.database.orm.em.fork().execute(
      `update custom_fields set additional_schema = additional_schema || jsonb_build_object('pattern', ?::text)
        where organization_id = ?`,
      ['(.?){1000}$', merchant.organizationId],
    )
    const { body } = await api.get<Body>(at)
    expect((await api.put(at, { ...body, isEnabled: false })).status).toBe(200)
    const changed = { ...body, additionalSchema: { maxLength: 4000, pattern: '(.?){999}$' } }
    expect(expectProblem(await api.put(at, changed), 422, 'validation-error')).toEqual([
      'additionalSchema.pattern',
    ])
  })

  test('keep their type: 409; of an outdated revision: 412; of nothing: 404', async () => {
    await define('customers', 'x', { type: 'string' })
    const at = 'custom-fields/customers/x'
    expectProblem(await api.put(at, { type: 'integer' }), 409, 'conflict')
    expectProblem(await api.put(at, { type: 'string' }, { 'If-Match': '"2"' }), 412, 'precondition-failed')
    expectProblem(await api.put(at, { type: 'string' }, { 'If-None-Match': '*' }), 412, 'precondition-failed')
    expectProblem(await api.get('custom-fields/customers/y'), 404, 'not-found')
    for (const resource of ['invoices', 'nothing', 'toString']) {
      expectProblem(await api.get(`custom-fields/${resource}`), 404, 'not-found')
      expectProblem(await api.get(`custom-fields/${resource}/x`), 404, 'not-found')
      expectProblem(await api.put(`custom-fields/${resource}/x`, { type: 'string' }), 404, 'not-found')
    }
  })

  test('of two that race to be defined, one is created and the other changes it', async () => {
    const put = () => api.put<Body>('custom-fields/customers/raced', { type: 'string' })
    const statuses = (await Promise.all([put(), put(), put()])).map(({ status }) => status).toSorted()
    expect(statuses).toEqual([200, 200, 201])
  })

  /** A resource that is missing here fails the test below. */
  const bodies = (): Readonly<Record<string, object>> => ({
    customers: {},
    'gateway-accounts': {
      gatewayName: 'TestGateway',
      method: 'payment-card',
      acceptedCurrencies: ['EUR'],
    },
    websites: { name: 'Shop' },
    products: { name: 'Seat' },
    plans: {
      name: 'Monthly',
      currency: 'EUR',
      pricing: { formula: 'fixed-fee', price: 1 },
      recurringInterval: { unit: 'month', length: 1 },
    },
    subscriptions: orderBody(merchant, { startTime: new Date(Date.now() + 86_400_000).toISOString() }),
  })

  test('every resource with custom fields can define them', () => {
    const found = ROUTES.filter(
      ({ method, path, takesBody, resource }) =>
        method === 'POST' && takesBody && path.split('/').length === 1 && hasCustomFields(resource),
    ).map(({ path }) => path)
    expect(found.toSorted()).toEqual([...RESOURCES, ...PATCHED].toSorted())
  })

  test.each(RESOURCES)(
    'of %s are validated when the record is created and when they change',
    async (path) => {
      const body = bodies()[path] ?? {}
      const before = (await api.post<Body>(path, { ...body, customFields: { size: 'large', free: 1 } })).body
      await define(path, 'size', { type: 'integer', additionalSchema: { minimum: 1 } })
      await define(path, 'colour', { type: 'string', additionalSchema: { default: 'red' } })
      const wrong = await api.post(path, { ...body, customFields: { size: 0, colour: 7, other: {} } })
      expect(expectProblem(wrong, 422, 'validation-error')).toEqual([
        'customFields.colour',
        'customFields.size',
      ])
      const made = await api.post<Body>(path, { ...body, customFields: { size: 3, other: { a: [1] } } })
      expect(made).toMatchObject({
        status: 201,
        body: { customFields: { size: 3, other: { a: [1] }, colour: 'red' } },
      })
      const plain = await api.post<Body>(path, body)
      expect(plain.body.customFields).toEqual({ colour: 'red' })

      const put = (id: unknown, given: object) => api.put<Body>(`${path}/${id}`, given)
      const large = { ...made.body, customFields: { size: 'large' } }
      expect(expectProblem(await put(made.body.id, large), 422, 'validation-error')).toEqual([
        'customFields.size',
      ])
      // What was stored before the definition can be sent back, and is not completed.
      const back = await put(before.id, before)
      expect({ status: back.status, customFields: back.body.customFields }).toEqual({
        status: 200,
        customFields: { size: 'large', free: 1 },
      })
      const changed = await put(before.id, { ...before, customFields: { size: 'large', free: 2 } })
      expect(changed).toMatchObject({ status: 200, body: { customFields: { size: 'large', free: 2 } } })

      await define(path, 'needed', { type: 'boolean', additionalSchema: { required: true } })
      expect(expectProblem(await api.post(path, body), 422, 'validation-error')).toEqual([
        'customFields.needed',
      ])
      const { body: field } = await api.get<Body>(`custom-fields/${path}/needed`)
      await api.put(`custom-fields/${path}/needed`, { ...field, isEnabled: false })
      expect((await api.post(path, body)).status).toBe(201)
    },
  )

  test.each(PATCHED)('of %s bind what a merchant sends by POST and by PATCH', async (path) => {
    const post = async (customFields?: object) => {
      const token = await makeToken(api)
      const { customerId } = merchant
      const body =
        path === 'transactions'
          ? { type: 'sale', customerId, currency: 'EUR', amount: 9.9, paymentInstruction: { token } }
          : { customerId, token }
      return await api.post<Body>(path, { ...body, ...(customFields === undefined ? {} : { customFields }) })
    }
    const patch = (id: unknown, given: object) =>
      api.send<Body>('PATCH', `${path}/${id}`, {
        body: JSON.stringify(given),
        headers: { 'Content-Type': 'application/json' },
      })
    const before = (await post({ size: 'large', free: 1 })).body
    await define(path, 'size', { type: 'integer', additionalSchema: { minimum: 1 } })
    await define(path, 'colour', { type: 'string', additionalSchema: { default: 'red' } })
    const wrong = await post({ size: 0, colour: 7 })
    expect(expectProblem(wrong, 422, 'validation-error').toSorted()).toEqual([
      'customFields.colour',
      'customFields.size',
    ])
    const made = await post({ size: 3, other: { a: [1] } })
    const customFields = { size: 3, other: { a: [1] }, colour: 'red' }
    expect(made).toMatchObject({ status: 201, body: { customFields } })
    expect((await post()).body.customFields).toEqual({ colour: 'red' })

    const refused = await patch(made.body.id, { customFields: { size: 'large' } })
    expect(expectProblem(refused, 422, 'validation-error')).toEqual(['customFields.size'])
    expect((await api.get<Body>(`${path}/${made.body.id}`)).body).toMatchObject({
      customFields,
      revision: made.body.revision,
    })
    const changed = await patch(made.body.id, { customFields: { size: 4 } })
    expect(changed).toMatchObject({ status: 200, body: { customFields: { ...customFields, size: 4 } } })
    const kept = await patch(before.id, { customFields: { free: 2 } })
    expect(kept).toMatchObject({ status: 200, body: { customFields: { size: 'large', free: 2 } } })

    await define(path, 'needed', { type: 'boolean', additionalSchema: { required: true } })
    expect(expectProblem(await post(), 422, 'validation-error')).toEqual(['customFields.needed'])
  })

  test('of a refund of a sale begin with their defaults, and none is required', async () => {
    const sale = await externalSale(api, merchant.customerId)
    await define('transactions', 'colour', { type: 'string', additionalSchema: { default: 'red' } })
    await define('transactions', 'needed', { type: 'boolean', additionalSchema: { required: true } })
    const refund = await api.post<Body>(`transactions/${sale}/refund`, { amount: 1 })
    expect(refund).toMatchObject({ status: 201, body: { type: 'refund', customFields: { colour: 'red' } } })
  })

  test('are validated by PATCH, which leaves them if it does not name them', async () => {
    // Customers cannot set any: their bodies may only hold them empty.
    const patched = ROUTES.filter(({ method, body = {} }) => method === 'PATCH' && hasCustomFields(body))
      .map(({ path }) => path)
      .filter((path) => !path.startsWith('storefront/'))
    expect(patched.toSorted()).toEqual(['gateway-accounts/{id}', 'payment-instruments/{id}'])
    await define('gateway-accounts', 'size', { type: 'integer' })
    const account = { ...bodies()['gateway-accounts'], customFields: { size: 1 } }
    const { body } = await api.post<Body>('gateway-accounts', account)
    const patch = (given: object) =>
      api.send<Body>('PATCH', `gateway-accounts/${body.id}`, {
        body: JSON.stringify(given),
        headers: { 'Content-Type': 'application/json' },
      })
    const wrong = await patch({ customFields: { size: 'large' } })
    expect(expectProblem(wrong, 422, 'validation-error')).toEqual(['customFields.size'])
    expect((await patch({ descriptor: 'SHOP' })).body).toMatchObject({ customFields: { size: 1 } })
    expect((await patch({ customFields: {} })).body).toMatchObject({ customFields: {} })
  })

  test('of one organization bind no other', async () => {
    await define('customers', 'size', { type: 'integer' })
    const other = await service.organization()
    const made = await other.api.post<Body>('customers', { customFields: { size: 'large' } })
    expect(made.status).toBe(201)
    expectProblem(await other.api.get('custom-fields/customers/size'), 404, 'not-found')
  })
})

function hasCustomFields(schema: object): boolean {
  return 'customFields' in ((schema as { properties?: object }).properties ?? {})
}
