import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { PROBLEMS } from '../../api/http/problems.ts'
import { ROUTES } from '../../api/routes.ts'
import { type ApiClient, apiClient } from '../support/api-client.ts'
import { catalogue, orderBody } from '../support/catalogue.ts'
import { contractProblem } from '../support/contract.ts'
import { startService, type TestService } from '../support/service.ts'

describe('what the host answers without a credential', () => {
  let service: TestService
  let host: ApiClient

  beforeAll(async () => {
    service = await startService({ worker: false })
    host = apiClient(service.baseUrl, 'none', {})
  })
  afterAll(() => service.stop())

  test('/status tells time and release', async () => {
    const { status, body } = await host.get('/status')
    expect(status).toBe(200)
    expect(body).toEqual({
      status: 'ok',
      time: expect.any(String),
      release: expect.stringMatching(/^[a-z0-9]{7}$/),
    })
  })

  test('/healthz and /readyz say ok while the database answers', async () => {
    expect((await host.get('/healthz')).status).toBe(200)
    expect((await host.get('/readyz')).status).toBe(200)
  })

  test('/.well-known/keys publishes the public half of the signing key, for an hour, and nothing of the private one', async () => {
    const { body, headers } = await host.get<{ keys: object[] }>('/.well-known/keys')
    expect(headers.get('cache-control')).toContain('max-age=3600')
    expect(body.keys).toHaveLength(1)
    expect(Object.keys(body.keys[0] ?? {}).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use'])
  })

  test('/openapi.json has every operation of the route table, and answers fit its schemas', async () => {
    const { body, headers } = await host.get<{
      openapi: string
      servers: { url: string }[]
      paths: Record<string, Record<string, { operationId: string }>>
    }>('/openapi.json')
    expect(body.openapi).toBe('3.1.0')
    expect(body.servers).toMatchObject([{ url: service.baseUrl }])
    expect(headers.get('access-control-allow-origin')).toBe('*')
    const ids = Object.values(body.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    )
    expect(ids).toEqual(expect.arrayContaining(ROUTES.map(({ operationId }) => operationId)))

    const merchant = await catalogue(service)
    // The client compares each response with the document (test/support/contract.ts).
    for (const [path, name] of [
      [`customers/${merchant.customerId}`, 'Customer'],
      [`websites/${merchant.websiteId}`, 'Website'],
      [`plans/${merchant.planId}`, 'Plan'],
    ] as const) {
      const { status, body: read } = await merchant.api.get(path)
      expect({ name, status }).toEqual({ name, status: 200 })
      const response = {
        method: 'GET',
        path: `/organizations/${merchant.organizationId}/${path}`,
        status,
        headers: new Headers({ 'content-type': 'application/json', 'request-id': 'x' }),
      }
      expect(contractProblem({ ...response, text: JSON.stringify(read) })).toBeNull()
      expect(contractProblem({ ...response, text: JSON.stringify({ ...read, id: 1 }) })).toContain(name)
    }
    expect((await merchant.api.post('subscriptions', orderBody(merchant, { poNumber: 'PO 1' }))).status).toBe(
      201,
    )
    expect((await merchant.api.post('webhooks', { url: 'https://receiver.example/hook' })).status).toBe(201)
  })

  test('the catalogue of problems is the one clients switch on, each with its status', () => {
    const catalogue = Object.entries(PROBLEMS).map(([code, { status }]) => [code, status])
    expect(Object.fromEntries(catalogue)).toEqual({
      'malformed-request': 400,
      unauthorized: 401,
      forbidden: 403,
      'not-found': 404,
      'method-not-allowed': 405,
      'request-timeout': 408,
      conflict: 409,
      'precondition-failed': 412,
      'payload-too-large': 413,
      'unsupported-media-type': 415,
      'expectation-failed': 417,
      'validation-error': 422,
      'idempotency-key-reused': 422,
      'rate-limit-exceeded': 429,
      'request-header-too-large': 431,
      'internal-error': 500,
      'not-implemented': 501,
      'upstream-failed': 502,
      unavailable: 503,
      'not-configured': 503,
    })
  })

  test.each(Object.keys(PROBLEMS))('/problems/%s explains the problem', async (slug) => {
    const { status, body, headers } = await host.get<string>(`/problems/${slug}`)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toContain('text/html')
    expect(String(body)).toContain(slug)
  })

  test('/openapi.json is compressed for those who accept it, and for no others', async () => {
    const read = async (encoding: string) =>
      await fetch(`${service.baseUrl}/openapi.json`, { headers: { 'Accept-Encoding': encoding } })
    const [gzip, plain] = [await read('gzip'), await read('identity')]
    expect([gzip, plain].map(({ headers }) => headers.get('content-encoding'))).toEqual(['gzip', null])
    expect(gzip.headers.get('vary')).toContain('Accept-Encoding')
    expect(await gzip.text()).toBe(await plain.text())
  })
})
