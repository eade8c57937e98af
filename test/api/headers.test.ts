import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ROUTES } from '../../api/routes.ts'
import { apiClient } from '../support/api-client.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { customerBrowser } from '../support/customer-browser.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { rawRequest } from '../support/raw-request.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let merchant: Catalogue

beforeAll(async () => {
  service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
  merchant = await catalogue(service)
})
afterAll(() => service.stop())

describe('a conditional header', () => {
  const website = async () => {
    const { body } = await merchant.api.post('websites', { name: 'W' })
    return { path: `websites/${body.id}`, body }
  }

  const MALFORMED = ['', ' ', '1', '"1', '1"', "'1'", 'w/"1"', '"1" "2"', '"1";', '*, "1"', '""1""', '"a b"']

  test.each(['If-Match', 'If-None-Match'])('%s that is empty or malformed is 400', async (name) => {
    const { path, body } = await website()
    for (const value of MALFORMED) {
      const headers = { [name]: value }
      const responses = [
        await merchant.api.get(path, headers),
        await merchant.api.put(path, { ...body, name: 'Other' }, headers),
        await merchant.api.delete(path, headers),
      ]
      for (const response of responses) {
        expectProblem(response, 400, 'malformed-request')
        expect(response.body.detail).toContain(name)
      }
    }
    expect((await merchant.api.get(path)).body).toEqual(body)
  })

  test('If-Match takes a list of entity tags, and no weak one matches', async () => {
    const { path, body } = await website()
    const put = async (tags: string) => (await merchant.api.put(path, body, { 'If-Match': tags })).status
    for (const tags of ['"1"', '*', '"0", "1"', '"a,b" ,"1"', 'W/"1","1"']) {
      expect({ tags, status: await put(tags) }).toEqual({ tags, status: 200 })
    }
    for (const tags of ['W/"1"', '"0"', '""', 'W/"1", W/"*"', '"1,1"']) {
      expect({ tags, status: await put(tags) }).toEqual({ tags, status: 412 })
    }
    expect((await merchant.api.delete(path, { 'If-Match': 'W/"1"' })).status).toBe(412)
    expect((await merchant.api.delete(path, { 'If-Match': '"1"' })).status).toBe(204)
  })

  test('If-None-Match compares weakly', async () => {
    const { path, body } = await website()
    const get = async (tags: string) => (await merchant.api.get(path, { 'If-None-Match': tags })).status
    for (const tags of ['"1"', 'W/"1"', '"7", W/"1"', '*']) {
      expect({ tags, status: await get(tags) }).toEqual({ tags, status: 304 })
    }
    expect(await get('"2"')).toBe(200)
    expect((await merchant.api.put(path, body, { 'If-None-Match': 'W/"1"' })).status).toBe(412)
  })
})

describe('an Idempotency-Key', () => {
  const post = (key: string) => merchant.api.post('websites', { name: 'Key' }, { 'Idempotency-Key': key })

  test.each(['', ' ', '""', '"open', '"a"b"', 'caf\u00e9', 'a\tb', 'x'.repeat(256)])(
    'that is empty or malformed (%j) is 400, and nothing is made',
    async (key) => {
      const response = await post(key)
      expectProblem(response, 400, 'malformed-request')
      expect(response.body.detail).toContain('Idempotency-Key')
      expect(response.headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/)
    },
  )

  test('that is sent twice is 400', async () => {
    const response = await rawRequest(service.baseUrl, [
      `POST /organizations/${merchant.organizationId}/websites HTTP/1.1`,
      'Host: any',
      `SVC-APIKEY: ${merchant.secretKey}`,
      'Content-Type: application/json',
      'Content-Length: 14',
      'Idempotency-Key: one',
      'Idempotency-Key: two',
      'Connection: close',
      '',
      '{"name":"Key"}',
    ])
    expect(response).toMatch(/^HTTP\/1\.1 400 /)
  })

  test.each([
    'a',
    '8e03978e-40d5-43dd-bc93-6894a57f9324',
    '"quoted"',
    '"with \\"quotes\\""',
    'two words',
    'x'.repeat(255),
  ])('of printable characters (%j) is taken', async (key) => {
    const [first, again] = [await post(key), await post(key)]
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.body.id).toBe(first.body.id)
  })
})

describe('a response of an operation', () => {
  const withCredential = ROUTES.filter(({ accepts }) => accepts.length > 0)

  test.each(withCredential.map((route) => [route.operationId, route] as const))(
    '%s is not cached, and varies with the credential',
    async (_, { method, path, takesBody, accepts }) => {
      const at = path.replace(/\{\w+\}/g, 'x')
      const request = {
        headers: { 'Content-Type': 'application/json' },
        ...(takesBody ? { body: '{}' } : {}),
      }
      const stranger = apiClient(service.baseUrl, merchant.organizationId, {})
      const isForBrowsers = accepts.some((form) => form !== 'secret')
      const [known, unknown] = [
        await merchant.api.send(method, at, request),
        await stranger.send(method, at, request),
      ]
      expect(unknown.status).toBe(401)
      for (const { headers } of [known, unknown]) {
        expect(headers.get('cache-control')).toBe('no-store')
        const vary = ['Authorization', 'SVC-APIKEY', ...(isForBrowsers ? ['Origin'] : [])]
        expect(headers.get('vary')?.split(', ')).toEqual(vary)
      }
      expect(known.headers.get('www-authenticate')).toBeNull()
      const challenge = 'ApiKey realm="organization", header="SVC-APIKEY"'
      expect(unknown.headers.get('www-authenticate')).toBe(
        accepts.includes('customer') ? `${challenge}, Bearer realm="organization"` : challenge,
      )
    },
  )

  test('with an invoice depends on the credential, and on the form that is asked for', async () => {
    const { body } = await merchant.api.post('subscriptions', orderBody(merchant))
    // Customers see issued invoices alone.
    await service.database.orm.em
      .fork()
      .getConnection()
      .execute("update invoices set status = 'unpaid', issued_time = now() where id = ?", [
        body.initialInvoiceId,
      ])
    for (const [path, api, others] of [
      [`invoices/${body.initialInvoiceId}`, merchant.api, []],
      [`storefront/invoices/${body.initialInvoiceId}`, await customerBrowser(service, merchant), ['Origin']],
    ] as const) {
      for (const Accept of ['application/json', 'application/pdf']) {
        const { status, headers } = await api.get(path, { Accept })
        expect({ path, Accept, status }).toEqual({ path, Accept, status: 200 })
        expect(headers.get('vary')?.split(', ')).toEqual(['Authorization', 'SVC-APIKEY', ...others, 'Accept'])
      }
    }
  })

  test('that is 304 says the same', async () => {
    const path = `websites/${merchant.websiteId}`
    const response = await merchant.api.get(path, { 'If-None-Match': '*' })
    expect(response.status).toBe(304)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('etag')).toBe('"1"')
  })

  test.each([
    ['an unknown key', { 'SVC-APIKEY': 'sk_sandbox_nobody' }],
    ['two credentials', { 'SVC-APIKEY': 'sk_sandbox_1', Authorization: 'sk_sandbox_1' }],
    ['a secret key in the wrong header', { Authorization: 'sk_sandbox_1' }],
    ['a publishable key in the wrong header', { 'SVC-APIKEY': 'pk_sandbox_1' }],
    ['an unknown JWT', { Authorization: 'Bearer a.b.c' }],
  ])('to %s asks for a credential: WWW-Authenticate', async (_, credential) => {
    const stranger = apiClient(service.baseUrl, merchant.organizationId, credential as Record<string, string>)
    const response = await stranger.get('websites')
    expectProblem(response, 401, 'unauthorized')
    expect(response.headers.get('www-authenticate')).toBe('ApiKey realm="organization", header="SVC-APIKEY"')
  })
})

test('a wrong password is told with what to send: WWW-Authenticate', async () => {
  const browser = apiClient(service.baseUrl, merchant.organizationId, {
    Authorization: merchant.publishableKey,
  })
  const response = await browser.post('authentication-tokens', { username: 'nobody', password: 'wrong' })
  expectProblem(response, 401, 'unauthorized')
  expect(response.headers.get('www-authenticate')).toBe('ApiKey realm="organization", header="SVC-APIKEY"')
})

test.each([
  ['SVC-APIKEY', () => merchant.secretKey],
  ['Authorization', () => merchant.publishableKey],
])('%s that is sent twice is two credentials: 401', async (name, value) => {
  const isSecret = name === 'SVC-APIKEY'
  const response = await rawRequest(service.baseUrl, [
    `GET /organizations/${merchant.organizationId}/${isSecret ? 'websites' : 'tokens/tok_none'} HTTP/1.1`,
    'Host: any',
    `${name}: ${value()}`,
    `${name}: ${value()}`,
    'Connection: close',
    '',
    '',
  ])
  expect(response).toMatch(/^HTTP\/1\.1 401 /)
  expect(response).toContain('Send one credential')
})

test.each(['/Organizations', '/ORGANIZATIONS', '/organizations'])('a path has one case: %s', async (root) => {
  const response = await merchant.api.get(`${root}/${merchant.organizationId}/websites`)
  expect(response.status).toBe(root === '/organizations' ? 200 : 404)
  for (const path of ['/Status', '/OpenAPI.json', '/.Well-Known/keys', '/Problems/conflict']) {
    expectProblem(await merchant.api.get(path), 404, 'not-found')
  }
  expect((await merchant.api.get('Websites')).status).toBe(404)
})
