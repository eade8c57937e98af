import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { apiClient } from '../support/api-client.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'
import { tokenBody } from '../support/tokens.ts'

describe('a hostile caller', () => {
  let service: TestService
  let merchant: Catalogue
  beforeAll(async () => {
    service = await startService({ worker: false, unreadTimeout: 500 })
    merchant = await catalogue(service, {})
  })
  afterAll(() => service.stop())
  const browser = () =>
    apiClient(service.baseUrl, merchant.organizationId, { Authorization: merchant.publishableKey })

  test('names each expansion once, and at most a hundred values in a filter', async () => {
    expect((await merchant.api.get('subscriptions?expand=customer,website')).status).toBe(200)
    for (const query of [
      'expand=customer,customer',
      `expand=${'customer,'.repeat(500)}`,
      'expand=customer&expand=customer',
    ]) {
      const response = await merchant.api.get(`subscriptions?${query}`)
      expect(expectProblem(response, 400, 'malformed-request')).toEqual(['expand'])
      expect(JSON.stringify(response.body).length).toBeLessThan(1_000)
    }
    const values = (count: number) => Array.from({ length: count }, (_, index) => `v${index}`).join(',')
    expect((await merchant.api.get(`customers?filter=id:${values(100)}`)).status).toBe(200)
    for (const filter of [`id:${values(101)}`, `id:${values(60)};firstName:${values(60)}`]) {
      const response = await merchant.api.get(`customers?filter=${filter}`)
      expect(expectProblem(response, 400, 'malformed-request')).toEqual(['filter'])
    }
  })

  test('sees with a publishable key neither risk nor, of a token that it reads, personal data', async () => {
    const billingAddress = { firstName: 'Ada', lastName: 'Lovelace', country: 'GB' }
    const made = await browser().post(
      'tokens',
      tokenBody(undefined, { billingAddress, riskMetadata: { ipAddress: '198.51.100.7' } }),
    )
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ riskMetadata: null, billingAddress: { firstName: 'Ada' } })
    const path = `tokens/${made.body.id}`
    const seen = await browser().get(path)
    expect(seen.status).toBe(200)
    expect(seen.body).toMatchObject({ id: made.body.id, riskMetadata: null, billingAddress: null })
    expect(JSON.stringify(seen.body)).not.toContain('Lovelace')
    const known = await merchant.api.get(path)
    expect(known.body).toMatchObject({ billingAddress: { firstName: 'Ada' } })
    expect(known.body.riskMetadata).not.toBeNull()
  })

  test('cannot count from the id of one token to the next', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => merchant.api.post('tokens', tokenBody())))
    const random = made.map(({ body }) => String(body.id).slice(-16, -8))
    expect(new Set(random).size).toBe(made.length)
  })

  test('with a publishable key uses no Idempotency-Key of the server up', async () => {
    const headers = { 'Idempotency-Key': 'order-1' }
    const [fromBrowser, fromServer] = [
      await browser().post('tokens', tokenBody(), headers),
      await merchant.api.post('tokens', { ...tokenBody(), leadSource: { source: 'server' } }, headers),
    ]
    expect([fromBrowser.status, fromServer.status]).toEqual([201, 201])
    expect(fromServer.body.id).not.toBe(fromBrowser.body.id)
    const again = await browser().post('tokens', tokenBody(), headers)
    expect(again.body.id).toBe(fromBrowser.body.id)
  })

  test.each(['/docs', '/problems/not-found', '/demo/checkout', '/demo/orders/any'])(
    'cannot frame the page %s or add a script to it',
    async (path) => {
      const response = await fetch(`${service.baseUrl}${path}`)
      expect(response.status).toBe(200)
      const policy = response.headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toMatch(/script-src[^;]*(unsafe|\*|https?:)/)
    },
  )

  test.each(['/status', '/openapi.json', '/.well-known/keys', '/docs', '/nowhere'])(
    'cannot have %s read as another type',
    async (path) => {
      expect((await fetch(`${service.baseUrl}${path}`)).headers.get('x-content-type-options')).toBe('nosniff')
    },
  )

  test('that does not read a response loses its connection', async () => {
    // The document is made at its first request.
    await (await fetch(`${service.baseUrl}/openapi.json`)).arrayBuffer()
    const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1')
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    socket.on('error', () => {})
    socket.pause()
    // More than the buffers of both sides hold.
    const request = `GET /openapi.json HTTP/1.1\r\nHost: api\r\n\r\n`
    socket.write(request.repeat(400))
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    socket.resume()
    await closed
  }, 30_000)
})

describe('a live deployment without a gateway that takes cards', () => {
  test('keeps no card that nobody can charge', async () => {
    const service = await startService({ worker: false, settings: { ENVIRONMENT: 'live' } })
    try {
      const { api } = await service.organization()
      expectProblem(await api.post('tokens', tokenBody()), 503, 'not-configured')
      expect((await api.get<unknown[]>('tokens')).body).toEqual([])
    } finally {
      await service.stop()
    }
  })
})
