import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { isUpsert } from '../../api/openapi/parameters.ts'
import { ROUTES } from '../../api/routes.ts'
import { apiClient } from '../support/api-client.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { disputeBody } from '../support/dispute.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'
import { tokenBody } from '../support/tokens.ts'

const ORIGIN = { Origin: 'https://shop.example' }
/** What a page of another origin may call: the operations of a credential that a browser may hold. */
const OPEN = [
  'POST tokens',
  'GET tokens/{token}',
  'POST digital-wallets/validation',
  'POST authentication-tokens',
  'POST authentication-tokens/{token}/exchange',
  'GET storefront/account',
  'PUT storefront/account',
  'GET storefront/orders',
  'GET storefront/orders/{id}',
  'GET storefront/invoices',
  'GET storefront/invoices/{id}',
  'GET storefront/payment-instruments',
  'POST storefront/payment-instruments',
  'GET storefront/payment-instruments/{id}',
  'PATCH storefront/payment-instruments/{id}',
  'POST storefront/payment-instruments/{id}/deactivation',
  'GET storefront/transactions',
  'GET storefront/transactions/{id}',
  'GET storefront/plans',
  'GET storefront/plans/{id}',
  'GET storefront/products',
  'GET storefront/products/{id}',
  'GET storefront/websites',
  'GET storefront/websites/{id}',
]

describe('every route', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '400' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const paths = [...new Set(ROUTES.map(({ path }) => path))]
  const methodsOf = (path: string) =>
    ROUTES.filter((route) => route.path === path).flatMap(({ method }) =>
      method === 'GET' ? ['GET', 'HEAD'] : [method],
    )

  test.each(paths)(
    '%s answers OPTIONS with 204 and other methods with 405, both with Allow',
    async (path) => {
      const at = path.replace(/\{\w+\}/g, 'x')
      const stranger = apiClient(service.baseUrl, merchant.organizationId, {})
      const options = await stranger.send('OPTIONS', at)
      const allowed = (text: string | null) => text?.split(', ').sort()
      expect([options.status, options.body]).toEqual([204, ''])
      const methods = [...methodsOf(path), 'OPTIONS'].sort()
      expect(allowed(options.headers.get('allow'))).toEqual(methods)
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(
        (one) => !methods.includes(one),
      )) {
        const response = await stranger.send(method, at)
        expectProblem(response, 405, 'method-not-allowed')
        expect(allowed(response.headers.get('allow'))).toEqual(methods)
      }
    },
  )

  test.each(ROUTES.map((route) => [route.operationId, route] as const))(
    '%s is open to pages of other origins where it takes a credential of a browser, closed elsewhere',
    async (_, { method, path, takesBody }) => {
      const open = OPEN.includes(`${method} ${path}`)
      const at = path.replace(/\{\w+\}/g, 'x')
      const preflight = await merchant.api.send('OPTIONS', at, {
        headers: { ...ORIGIN, 'Access-Control-Request-Method': method },
      })
      const response = await merchant.api.send(method, at, {
        headers: { ...ORIGIN, 'Content-Type': 'application/json' },
        ...(takesBody ? { body: '{}' } : {}),
      })
      for (const { headers } of [preflight, response]) {
        expect(headers.get('access-control-allow-origin')).toBe(open ? '*' : null)
        expect(headers.get('access-control-allow-credentials')).toBeNull()
      }
      expect(preflight.status).toBe(204)
    },
  )

  test('a credential that is wrong is told before what is wrong with the request', async () => {
    const headers = { 'Content-Type': 'text/plain', 'If-Match': '"9"' }
    const stranger = apiClient(service.baseUrl, merchant.organizationId, {
      'SVC-APIKEY': 'sk_sandbox_nobody',
    })
    const wrong = { body: 'not json', headers }
    expectProblem(await stranger.send('PUT', 'websites/x?colour=red', wrong), 401, 'unauthorized')
    const { secretKey } = (await merchant.api.post('api-keys', { description: 'nothing', acl: [] })).body
    const nobody = apiClient(service.baseUrl, merchant.organizationId, { 'SVC-APIKEY': String(secretKey) })
    expectProblem(await nobody.send('PUT', 'websites/x?colour=red', wrong), 403, 'forbidden')
    expectProblem(await merchant.api.send('PUT', 'websites/x', wrong), 415, 'unsupported-media-type')
    const json = { ...headers, 'Content-Type': 'application/json' }
    expectProblem(
      await merchant.api.send('PUT', 'websites/x', { body: 'not json', headers: json }),
      400,
      'malformed-request',
    )
    const bad = { body: '{"colour": "red"}', headers: json }
    expectProblem(await merchant.api.send('PUT', 'websites/x?colour=red', bad), 400, 'malformed-request')
    expectProblem(await merchant.api.send('PUT', 'websites/x', bad), 412, 'precondition-failed')
    expectProblem(await merchant.api.put('websites/x', { colour: 'red' }), 422, 'validation-error')
  })

  const LEFT_OUT = [
    'aml',
    'aml-checks',
    'quotes',
    'usages',
    'email-messages',
    'email-notifications',
    'broadcast-messages',
    'cashiers',
    'payout-requests',
    'billing-portals',
    'journal-accounts',
    'segments',
    'rules',
    'users',
    'roles',
  ]

  test.each(LEFT_OUT)('%s is no path of this stage: 404, to whomever', async (group) => {
    const stranger = apiClient(service.baseUrl, merchant.organizationId, {})
    for (const api of [merchant.api, stranger]) {
      expectProblem(await api.get(group), 404, 'not-found')
      expectProblem(await api.get(`${group}/x`), 404, 'not-found')
      expectProblem(await api.post(group, {}), 404, 'not-found')
    }
  })

  test('no path, parameter or header carries a version of the API', async () => {
    const { body } = await merchant.api.get<{
      paths: Record<string, Record<string, { parameters?: { name?: string }[] }>>
      components: { parameters: Record<string, { name: string }> }
    }>('/openapi.json')
    const parts = Object.entries(body.paths).flatMap(([path, methods]) => [
      ...path.split('/'),
      ...Object.values(methods).flatMap(({ parameters = [] }) => parameters.map(({ name = '' }) => name)),
    ])
    parts.push(...Object.values(body.components.parameters).map(({ name }) => name))
    expect(parts.length).toBeGreaterThan(100)
    expect(parts.filter((part) => /^v?\d|version/i.test(part))).toEqual([])
    const asked = { Accept: 'application/json; version=7', 'Api-Version': '7', 'Accept-Version': '7' }
    const path = `websites/${merchant.websiteId}`
    const [plain, versioned] = [await merchant.api.get(path), await merchant.api.get(path, asked)]
    expect([versioned.status, versioned.body]).toEqual([200, plain.body])
    for (const { headers } of [plain, versioned]) {
      expect([...headers.keys()].filter((name) => name.includes('version'))).toEqual([])
    }
    expectProblem(
      await merchant.api.get(`/v1/organizations/${merchant.organizationId}/${path}`),
      404,
      'not-found',
    )
  })

  test('an id that is no id is absent, whatever is in it', async () => {
    for (const id of ['%00', '%ff', '%', 'a%2Fb', '..%2f', 'x'.repeat(3000), '%F0%9F%92%A5', "' or 1=1"]) {
      const response = await merchant.api.get(`websites/${id}`)
      expectProblem(response, 404, 'not-found')
    }
  })

  test('a fault of ours answers a fixed text and nothing of its cause', async () => {
    const connection = service.database.orm.em.fork().getConnection()
    await connection.execute('alter table websites rename to websites_gone')
    try {
      const response = await merchant.api.get('websites/x')
      expectProblem(response, 500, 'internal-error')
      expect(JSON.stringify(response.body)).not.toContain('websites_gone')
      expect(response.body.detail).toBe('The request could not be completed.')
    } finally {
      await connection.execute('alter table websites_gone rename to websites')
    }
  })
})

describe('every resource', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  test('has an id of its kind, its times and a link to itself, all set by the service', async () => {
    const told = { id: 'told', createdTime: 'told', updatedTime: 'told', _links: 'told' }
    const { api, customerId } = merchant
    const make = async (path: string, body: object) => {
      const before = Date.now()
      const answer = await api.post(path, { ...body, ...told })
      expect({ path, status: answer.status, body: answer.body }).toMatchObject({ path, status: 201 })
      const { id, createdTime, updatedTime, _links } = answer.body
      const created = Date.parse(String(createdTime))
      expect(created).toBeGreaterThanOrEqual(before)
      expect(created).toBeLessThanOrEqual(Date.now())
      expect({ path, updatedTime }).toEqual({ path, updatedTime: createdTime })
      const href = `${service.baseUrl}/organizations/${merchant.organizationId}/${path}/${id}`
      expect({ path, _links }).toEqual({ path, _links: expect.arrayContaining([{ rel: 'self', href }]) })
      return answer.body
    }
    const order = await make('subscriptions', orderBody(merchant))
    const sale = {
      type: 'sale',
      customerId,
      currency: 'EUR',
      amount: 1,
      paymentInstruction: { method: 'external' },
    }
    const transaction = await make('transactions', sale)
    const token = await make('tokens', tokenBody())
    const made: [string, Record<string, unknown>][] = [
      ['sub', order],
      ['txn', transaction],
      ['tok', token],
      ['inst', await make('payment-instruments', { customerId, token: token.id })],
      ['dp', await make('disputes', disputeBody(String(transaction.id)))],
      ['api_key', await make('api-keys', { description: 'key' })],
      ['web', await make('websites', { name: 'Shop' })],
      ['cus', await make('customers', {})],
      ['prod', await make('products', { name: 'Seat' })],
      ['plan', await make('plans', PLAN)],
      ['wh', await make('webhooks', { url: 'https://receiver.example/' })],
      ['pause', await make('subscription-pauses', { subscriptionId: order.id })],
      ['cancel', await make('subscription-cancellations', { subscriptionId: order.id })],
      ['react', await make('subscription-reactivations', { subscriptionId: order.id })],
    ]
    for (const [prefix, { id }] of made) expect(id).toMatch(new RegExp(`^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$`))
    for (const [path, prefix] of [
      ['invoices', 'in'],
      ['events', 'evt'],
    ]) {
      const { body } = await api.get<Record<string, unknown>[]>(String(path))
      expect(body[0]).toMatchObject({
        id: expect.stringMatching(new RegExp(`^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$`)),
        createdTime: expect.stringMatching(/Z$/),
        updatedTime: expect.stringMatching(/Z$/),
        _links: expect.arrayContaining([expect.objectContaining({ rel: 'self' })]),
      })
    }
  })

  test('that does not exist is told before what is wrong with the body: 404', async () => {
    const given = ROUTES.filter(
      (route) =>
        route.takesBody && route.accepts.includes('secret') && route.path.includes('{') && !isUpsert(route),
    )
    const was: Record<string, number> = {}
    for (const { operationId, method, path } of given) {
      const response = await merchant.api.send(method, path.replaceAll(/\{\w+\}/g, 'absent'), {
        body: '{"colour":"red"}',
        headers: { 'Content-Type': 'application/json' },
      })
      was[operationId] = response.status
    }
    expect(was).toEqual(Object.fromEntries(given.map(({ operationId }) => [operationId, 404])))
    expect(given.length).toBeGreaterThan(20)
  })

  test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'has no member %s, which every object inherits: 400',
    async (name) => {
      for (const query of [
        `fields=${name}`,
        `sort=${name}`,
        `filter=${name}:1`,
        `expand=${name}`,
        `${name}=1`,
      ]) {
        const response = await merchant.api.get(`customers?${query}`)
        expectProblem(response, 400, 'malformed-request')
      }
      expectProblem(await merchant.api.get(`custom-fields/${name}`), 404, 'not-found')
      expectProblem(await merchant.api.get(`/problems/${name}`), 404, 'not-found')
      const body = JSON.stringify({ name: 'W' }).replace('{', `{"${name}":1,`)
      const response = await merchant.api.send('POST', 'websites', {
        body,
        headers: { 'Content-Type': 'application/json' },
      })
      expect(expectProblem(response, 422, 'validation-error')).toEqual([name])
    },
  )

  test('keeps the time of its creation and has another of its change', async () => {
    const { body } = await merchant.api.post('websites', { name: 'One' })
    const changed = await merchant.api.put(`websites/${body.id}`, { ...body, name: 'Two' })
    expect(changed.body.createdTime).toBe(body.createdTime)
    expect(Date.parse(String(changed.body.updatedTime))).toBeGreaterThan(Date.parse(String(body.createdTime)))
    const same = await merchant.api.put(`websites/${body.id}`, changed.body)
    expect(same.body).toEqual(changed.body)
  })
})

const PLAN = { name: 'Plan', currency: 'EUR', pricing: { formula: 'fixed-fee', price: 1 } }
