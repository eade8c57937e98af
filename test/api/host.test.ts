import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { PROBLEMS } from '../../api/http/problems.ts'
import { ROUTES } from '../../api/routes.ts'
import { type ApiClient, apiClient } from '../support/api-client.ts'
import { catalogue, orderBody } from '../support/catalogue.ts'
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
    const { body } = await host.get<{
      openapi: string
      paths: Record<string, Record<string, { operationId: string }>>
      components: { schemas: Record<string, object> }
    }>('/openapi.json')
    expect(body.openapi).toBe('3.1.0')
    const ids = Object.values(body.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    )
    expect(ids.sort()).toEqual(ROUTES.map(({ operationId }) => operationId).sort())

    const ajv = new Ajv2020({ strict: false, formats: { ...fullFormats, currency: true, ip: true } })
    const merchant = await catalogue(service)
    const placed = await merchant.api.post('subscriptions', orderBody(merchant, { poNumber: 'PO 1' }))
    const responses = {
      Subscription: placed.body,
      Customer: (await merchant.api.get(`customers/${merchant.customerId}`)).body,
      Website: (await merchant.api.get(`websites/${merchant.websiteId}`)).body,
      Plan: (await merchant.api.get(`plans/${merchant.planId}`)).body,
      Webhook: (await merchant.api.post('webhooks', { url: 'https://receiver.example/hook' })).body,
    }
    for (const [name, response] of Object.entries(responses)) {
      const valid = ajv.compile(body.components.schemas[name] ?? false)
      expect({ name, errors: valid(response) ? null : valid.errors }).toEqual({ name, errors: null })
    }
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

  test('/docs lists every operation', async () => {
    const { body } = await host.get<string>('/docs')
    for (const { path } of ROUTES) expect(String(body)).toContain(path)
  })
})
