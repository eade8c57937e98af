import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import type { OrganizationKeys } from '../../commands/access/create-organization.ts'
import { type ApiClient, apiClient } from '../support/api-client.ts'
import { type AppleGateway, GATEWAY, SESSION, startAppleGateway } from '../support/apple-pay.ts'
import { hasOpenssl } from '../support/certificates.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'

const PATH = 'digital-wallets/validation'
const REQUEST = {
  validationUrl: `https://${GATEWAY}/paymentservices/startSession`,
  domainName: 'shop.example',
  displayName: 'Shop',
}
const BODY = { type: 'Apple Pay', validationRequest: REQUEST }

interface Validation extends Record<string, unknown> {
  type: string
  validationResponse: Record<string, unknown>
}

describe('the validation of a merchant in the sandbox', () => {
  let service: TestService
  let merchant: OrganizationKeys & { readonly api: ApiClient }

  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await service.organization()
  })
  afterAll(() => service.stop())

  const holding = (authorization: string) =>
    apiClient(service.baseUrl, merchant.organizationId, { Authorization: authorization })
  const validate = (members: object = {}, api = merchant.api) =>
    api.post<Validation>(PATH, { ...BODY, ...members })
  const request = (members: object) => validate({ validationRequest: { ...REQUEST, ...members } })

  test('returns a merchant session of its own: 201 without Location', async () => {
    const before = Date.now()
    const { status, headers, body } = await validate()
    expect([status, headers.get('location'), headers.get('etag')]).toEqual([201, null, null])
    expect(body).toEqual({
      type: 'Apple Pay',
      validationResponse: {
        sandbox: true,
        epochTimestamp: expect.any(Number),
        expiresAt: expect.any(Number),
        merchantSessionIdentifier: expect.stringMatching(/^SSH[0-9A-F]{32}_[0-9A-F]{64}$/),
        nonce: expect.stringMatching(/^[0-9a-f]{8}$/),
        merchantIdentifier: expect.stringMatching(/^[0-9A-F]{64}$/),
        domainName: 'shop.example',
        displayName: 'Shop',
        signature: expect.stringMatching(/^[0-9a-f]{128}$/),
      },
    })
    const { epochTimestamp, expiresAt } = body.validationResponse
    expect(Number(epochTimestamp)).toBeGreaterThanOrEqual(before)
    expect(Number(epochTimestamp)).toBeLessThanOrEqual(Date.now())
    expect(Number(expiresAt) - Number(epochTimestamp)).toBe(5 * 60_000)
  })

  test('returns another session each time; under an Idempotency-Key the same', async () => {
    const identifier = async (headers: Record<string, string> = {}) => {
      const { status, body } = await merchant.api.post<Validation>(PATH, BODY, headers)
      expect(status).toBe(201)
      return body.validationResponse.merchantSessionIdentifier
    }
    expect(await identifier()).not.toBe(await identifier())
    const key = { 'Idempotency-Key': 'once' }
    expect(await identifier(key)).toBe(await identifier(key))
  })

  test('takes a publishable key, from a page of any origin', async () => {
    const browser = holding(merchant.publishableKey)
    const { status, headers } = await browser.send('POST', PATH, {
      body: JSON.stringify(BODY),
      headers: { Origin: 'https://shop.example', 'Content-Type': 'application/json' },
    })
    expect([status, headers.get('access-control-allow-origin')]).toEqual([201, '*'])
    const preflight = await apiClient(service.baseUrl, merchant.organizationId, {}).send('OPTIONS', PATH, {
      headers: { Origin: 'https://shop.example', 'Access-Control-Request-Method': 'POST' },
    })
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([204, 'POST'])
  })

  test("takes a customer's JWT whose acl names it, and no other", async () => {
    const { body: customer } = await merchant.api.post('customers', {})
    const jwt = async (permission: string) => {
      const issued = await merchant.api.post('authentication-tokens', {
        mode: 'passwordless',
        customerId: customer.id,
      })
      const exchanged = await merchant.api.post(`authentication-tokens/${issued.body.token}/exchange`, {
        acl: [{ permissions: [permission] }],
      })
      return holding(`Bearer ${exchanged.body.token}`)
    }
    expect((await validate({}, await jwt('PostDigitalWalletValidation'))).status).toBe(201)
    expectProblem(await validate({}, await jwt('PostToken')), 403, 'forbidden')
  })

  test.each<[string, object, string[]]>([
    ['no type', { type: undefined }, ['type']],
    ['another wallet', { type: 'Google Pay' }, ['type']],
    ['no request', { validationRequest: undefined }, ['validationRequest']],
    ['a request of null', { validationRequest: null }, ['validationRequest']],
    [
      'an empty request',
      { validationRequest: {} },
      ['validationRequest.displayName', 'validationRequest.domainName', 'validationRequest.validationUrl'],
    ],
    ['an unknown member', { colour: 'red' }, ['colour']],
  ])('is refused with %s: 422', async (_, members, fields) => {
    expect(expectProblem(await validate(members), 422, 'validation-error')).toEqual(fields)
  })

  test.each<[string, object, string]>([
    ['a name over 64 characters', { displayName: 'x'.repeat(65) }, 'displayName'],
    ['an empty name', { displayName: '' }, 'displayName'],
    ['a URL for a domain', { domainName: 'https://shop.example' }, 'domainName'],
    ['a domain with a port', { domainName: 'shop.example:443' }, 'domainName'],
    ['an empty domain', { domainName: '' }, 'domainName'],
    ['an unknown member', { initiative: 'app' }, 'initiative'],
  ])('is refused with a request with %s: 422', async (_, members, field) => {
    expect(expectProblem(await request(members), 422, 'validation-error')).toEqual([
      `validationRequest.${field}`,
    ])
  })

  test.each([
    GATEWAY,
    `http://${GATEWAY}/`,
    `https://user:secret@${GATEWAY}/`,
    `https://${GATEWAY}:8443/`,
    `https://${GATEWAY}.receiver.example/`,
    'https://receiver.example/',
    'https://127.0.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    `https://${GATEWAY}/${'x'.repeat(2_048)}`,
  ])('is refused at %s: 422 that names the URL', async (validationUrl) => {
    const response = await request({ validationUrl })
    expect(expectProblem(response, 422, 'validation-error')).toEqual(['validationRequest.validationUrl'])
    expect(JSON.stringify(response.body)).not.toContain('secret')
  })
})

describe('the validation of a merchant in live without a merchant identity', () => {
  let service: TestService

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { ENVIRONMENT: 'live' } })
  })
  afterAll(() => service.stop())

  test('is refused: 503 that names the settings', async () => {
    const { api } = await service.organization()
    const response = await api.post(PATH, BODY)
    expectProblem(response, 503, 'not-configured')
    for (const name of ['APPLE_PAY_MERCHANT_ID', 'APPLE_PAY_CERT_FILE', 'APPLE_PAY_KEY_FILE'])
      expect(response.body.detail).toContain(name)
    expectProblem(await api.post(PATH, { ...BODY, type: 'Google Pay' }), 422, 'validation-error')
  })
})

const whereOpensslIs = hasOpenssl() ? describe : describe.skip

whereOpensslIs('the validation of a merchant in live', () => {
  let gateway: AppleGateway
  let service: TestService
  let api: ApiClient

  beforeAll(async () => {
    gateway = await startAppleGateway()
    service = await startService({
      worker: false,
      settings: {
        ENVIRONMENT: 'live',
        APPLE_PAY_MERCHANT_ID: 'merchant.com.example',
        APPLE_PAY_CERT_FILE: gateway.identity.certFile,
        APPLE_PAY_KEY_FILE: gateway.identity.keyFile,
      },
      applePay: gateway.connection,
    })
    api = (await service.organization()).api
  })
  afterEach(() => gateway.reset())
  afterAll(async () => {
    await service?.stop()
    await gateway?.stop()
  })

  test("returns Apple Pay's session, requested under the merchant's certificate", async () => {
    const { status, headers, body } = await api.post(PATH, BODY)
    expect([status, headers.get('location')]).toEqual([201, null])
    expect(body).toEqual({ type: 'Apple Pay', validationResponse: SESSION })
    expect(gateway.received).toMatchObject([
      {
        path: '/paymentservices/paymentSession',
        client: 'merchant.com.example',
        body: {
          merchantIdentifier: 'merchant.com.example',
          displayName: 'Shop',
          initiative: 'web',
          initiativeContext: 'shop.example',
        },
      },
    ])
  })

  test('under an Idempotency-Key is requested once, and its session is stored encrypted', async () => {
    const once = () => api.post(PATH, BODY, { 'Idempotency-Key': 'once' })
    expect((await once()).body).toEqual((await once()).body)
    expect(gateway.received).toHaveLength(1)
    const rows = await service.database.orm.em
      .fork()
      .getConnection()
      .execute('select * from idempotency_records')
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(SESSION.merchantSessionIdentifier)
  })

  test('fails where Apple Pay refuses or answers something else: 502 with the reason', async () => {
    gateway.answer((_, response) => response.writeHead(417).end(JSON.stringify(SESSION)))
    const refused = await api.post(PATH, BODY, { 'Idempotency-Key': 'again' })
    expectProblem(refused, 502, 'upstream-failed')
    expect(refused.body.detail).toBe('Apple Pay did not return a merchant session: status, status 417.')
    gateway.answer((_, response) => response.end(`<html>${SESSION.signature}</html>`))
    expectProblem(await api.post(PATH, BODY), 502, 'upstream-failed')
    gateway.pretend()
    const untrusted = await api.post(PATH, BODY)
    expectProblem(untrusted, 502, 'upstream-failed')
    expect(untrusted.body.detail).toBe('Apple Pay did not return a merchant session: tls.')
    gateway.reset()
    expect((await api.post(PATH, BODY, { 'Idempotency-Key': 'again' })).status).toBe(201)
  })

  test('leaves nothing of certificate and session in the log', async () => {
    await api.post(PATH, BODY)
    const log = service.log.join('')
    expect(log).toContain('PostDigitalWalletValidation')
    const { cert, key } = gateway.identity
    const secrets = [
      ...[cert, key].flatMap((pem) => pem.split('\n').filter((line) => /^[A-Za-z0-9+/=]{20,}$/.test(line))),
      SESSION.merchantSessionIdentifier,
      SESSION.signature,
    ]
    expect(secrets.length).toBeGreaterThan(5)
    for (const secret of secrets) expect(log).not.toContain(secret)
  })
})
