import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { ROUTES } from '../../api/routes.ts'
import { customerTokenKey, rotateCustomerTokenKey } from '../../commands/access/customer-token-keys.ts'
import { currentSigningKey } from '../../delivery/signing-keys.ts'
import { removeExpired } from '../../worker/retention.ts'
import { type ApiClient, type ApiResponse, apiClient } from '../support/api-client.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const HOUR = 3_600_000
/** The others take a signature in place of a credential. */
const WITH_CREDENTIAL = ROUTES.filter(({ accepts }) => accepts.length > 0)
const MAY_TOKENIZE = [{ permissions: ['PostToken'] }]
const TOO_MANY = [1, 2].map(() => ({ permissions: Array<string>(500).fill('GetToken') }))
const CARD = {
  method: 'payment-card',
  paymentInstrument: { pan: '4111111111111111', cvv: '123', expMonth: 12, expYear: 2090 },
}

describe("a customer's token", () => {
  let service: TestService
  let merchant: Catalogue
  let browser: ApiClient

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
    browser = holding(merchant.publishableKey)
  })
  afterAll(() => service.stop())

  function holding(authorization: string): ApiClient {
    return apiClient(service.baseUrl, merchant.organizationId, { Authorization: authorization })
  }
  const sql = <T = Record<string, unknown>>(text: string, values: unknown[] = []) =>
    service.database.orm.em.fork().getConnection().execute<T[]>(text, values)
  const createToken = async (customerId = merchant.customerId): Promise<string> => {
    const response = await merchant.api.post('authentication-tokens', { mode: 'passwordless', customerId })
    expect(response.status).toBe(201)
    return String(response.body.token)
  }
  const exchange = (token: string, members: object = {}, api = browser) =>
    api.post(`authentication-tokens/${token}/exchange`, { acl: MAY_TOKENIZE, ...members })
  const customerLink = () => ({
    rel: 'customer',
    href: `${service.baseUrl}/organizations/${merchant.organizationId}/customers/${merchant.customerId}`,
  })
  const jwt = async (members: object = {}): Promise<string> => {
    const { status, body } = await exchange(await createToken(), members)
    expect(status).toBe(201)
    return String(body.token)
  }
  const tokenize = (token: string): Promise<ApiResponse> => holding(`Bearer ${token}`).post('tokens', CARD)

  test('begins with the word of the merchant, which can be verified and ended', async () => {
    const before = Date.now()
    const made = await merchant.api.post('authentication-tokens', {
      mode: 'passwordless',
      customerId: merchant.customerId,
    })
    expect({ status: made.status, location: made.headers.get('location') }).toEqual({
      status: 201,
      location: null,
    })
    expect(made.body).toEqual({
      token: expect.stringMatching(/^at_sandbox_[\w-]{43}$/),
      customerId: merchant.customerId,
      otpRequired: false,
      expiredTime: expect.any(String),
      revision: 1,
      createdTime: expect.any(String),
      updatedTime: made.body.createdTime,
      _links: [customerLink()],
    })
    const expiredTime = Date.parse(String(made.body.expiredTime))
    expect(expiredTime - before).toBeGreaterThanOrEqual(HOUR)
    expect(expiredTime - Date.now()).toBeLessThanOrEqual(HOUR)
    const path = `authentication-tokens/${made.body.token}`
    const verified = await merchant.api.get(path)
    expect({ status: verified.status, body: verified.body }).toEqual({ status: 200, body: made.body })
    expect((await merchant.api.delete(path)).status).toBe(204)
    expectProblem(await merchant.api.get(path), 404, 'not-found')
    expectProblem(await merchant.api.delete(path), 404, 'not-found')
    expectProblem(await exchange(String(made.body.token)), 404, 'not-found')
  })

  test.each([
    ['a mode that is not there', { mode: 'sms' }, ['mode']],
    ['no customer', { customerId: undefined }, ['customerId']],
    ['no customer and no mode', { mode: undefined, customerId: undefined }, ['password', 'username']],
    ['a username beside the customer', { username: 'ada' }, ['username']],
    ['a one-time password', { otpRequired: true }, ['otpRequired']],
    ['a customer that is not there', { customerId: 'none' }, ['customerId']],
    ['a life of its own choice', { lifetime: 'P1D' }, ['lifetime']],
  ])('is not begun with %s: 422', async (_, members, fields) => {
    const body = { mode: 'passwordless', customerId: merchant.customerId, ...members }
    const response = await merchant.api.post('authentication-tokens', body)
    expect(expectProblem(response, 422, 'validation-error')).toEqual(fields)
  })

  test('is listed while it can be exchanged, with its value only to who could make one', async () => {
    const customerId = String((await merchant.api.post('customers', {})).body.id)
    const [open, consumed, late] = [
      await createToken(customerId),
      await createToken(customerId),
      await createToken(customerId),
    ]
    await exchange(consumed)
    await sql(
      "update authentication_tokens set expired_time = now() - interval '1 second' where token_hash = ?",
      [service.database.installation.hashKey(`authentication token:${late}`)],
    )
    type Listed = { customerId: string; token?: string }
    const list = async (api: ApiClient) =>
      (await api.get<Listed[]>('authentication-tokens?limit=1000')).body.filter(
        (one) => one.customerId === customerId,
      )
    expect(await list(merchant.api)).toEqual([(await merchant.api.get(`authentication-tokens/${open}`)).body])
    const { body } = await merchant.api.post('api-keys', {
      description: 'reads',
      acl: [{ permissions: ['GetAuthenticationTokenCollection'] }],
    })
    const reader = apiClient(service.baseUrl, merchant.organizationId, {
      'SVC-APIKEY': String(body.secretKey),
    })
    const [seen] = await list(reader)
    expect(seen).toMatchObject({ customerId })
    expect(JSON.stringify(seen)).not.toContain(open)
    const unpaged = await merchant.api.get('authentication-tokens?filter=customerId:x')
    expect(expectProblem(unpaged, 400, 'malformed-request')).toEqual(['filter'])
  })

  test('is exchanged from a browser: by default for an hour, and once', async () => {
    const word = await createToken()
    const { status, body, headers } = await exchange(word)
    expect({ status, location: headers.get('location') }).toEqual({ status: 201, location: null })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(body).toEqual({
      id: expect.any(String),
      type: 'customer',
      token: expect.any(String),
      customerId: merchant.customerId,
      acl: MAY_TOKENIZE,
      expiredTime: expect.any(String),
      customClaims: {},
      createdTime: expect.any(String),
      updatedTime: body.createdTime,
      _links: [customerLink()],
    })
    const life = Date.parse(String(body.expiredTime)) - Date.now()
    expect(life).toBeLessThanOrEqual(HOUR)
    expect(life).toBeGreaterThan(HOUR - 60_000)
    expectProblem(await exchange(word), 404, 'not-found')
    expectProblem(await merchant.api.get(`authentication-tokens/${word}`), 404, 'not-found')

    const header = decodeProtectedHeader(String(body.token))
    expect(header).toEqual({ alg: 'HS256', typ: 'customer+jwt', kid: expect.any(String) })
    expect(decodeJwt(String(body.token))).toMatchObject({
      iss: `${service.baseUrl}/`,
      aud: `${service.baseUrl}/storefront`,
      sub: merchant.customerId,
      jti: body.id,
    })
  })

  test('is exchanged as often as wanted where the exchange does not spend the word', async () => {
    const word = await createToken()
    const first = await exchange(word, { invalidate: false })
    const second = await exchange(word, { invalidate: false }, merchant.api)
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body.id).not.toBe(first.body.id)
    expect((await merchant.api.get(`authentication-tokens/${word}`)).status).toBe(200)
    for (const { body } of [first, second]) expect((await tokenize(String(body.token))).status).toBe(201)
  })

  test('of exchanges at once that spend the word, one gets through', async () => {
    const word = await createToken()
    const responses = await Promise.all(Array.from({ length: 6 }, () => exchange(word)))
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 404, 404, 404, 404, 404])
  })

  test('is repeated under an Idempotency-Key, though the token was consumed', async () => {
    const word = await createToken()
    const once = () =>
      browser.post(
        `authentication-tokens/${word}/exchange`,
        { acl: MAY_TOKENIZE },
        { 'Idempotency-Key': 'exchanged' },
      )
    const first = await once()
    expect((await once()).body).toEqual(first.body)
    expect(first.status).toBe(201)
  })

  test.each([
    ['no acl', { acl: undefined }, ['acl']],
    ['an acl of null', { acl: null }, ['acl']],
    ['a permission of no such shape', { acl: [{ permissions: ['tokens'] }] }, ['acl.0.permissions.0']],
    [
      'the scope of another organization',
      { acl: [{ permissions: ['PostToken'], scope: { organizationId: ['other'] } }] },
      ['acl.0.scope.organizationId'],
    ],
    ['too many permissions in all rules', { acl: [...TOO_MANY, { permissions: ['PostToken'] }] }, ['acl']],
    ['an end in the past', { expiredTime: '2020-01-01T00:00:00Z' }, ['expiredTime']],
    ['an end beyond a day', { expiredTime: '2999-01-01T00:00:00Z' }, ['expiredTime']],
    ['an end in words', { expiredTime: 'tomorrow' }, ['expiredTime']],
    ['a one-time password', { oneTimePassword: '123456' }, ['oneTimePassword']],
    ['claims of its own', { customClaims: { role: 'admin' } }, ['customClaims']],
  ])('is not exchanged with %s: 422, and nothing is consumed', async (_, members, fields) => {
    const word = await createToken()
    expect(expectProblem(await exchange(word, members), 422, 'validation-error')).toEqual(fields)
    expect((await exchange(word)).status).toBe(201)
  })

  test('is exchanged with what is not supported yet at its neutral value', async () => {
    const response = await exchange(await createToken(), { oneTimePassword: '', customClaims: {} })
    expect(response.status).toBe(201)
    expect(response.body).not.toHaveProperty('oneTimePassword')
  })

  test('permits no more than the key that exchanges', async () => {
    const { body } = await merchant.api.post('api-keys', {
      description: 'exchanges only',
      type: 'publishable',
      acl: [{ permissions: ['PostAuthenticationTokenExchange', 'PostToken'] }],
    })
    const narrow = holding(String(body.secretKey))
    for (const permission of ['*', 'PostWebsite']) {
      const response = await exchange(await createToken(), { acl: [{ permissions: [permission] }] }, narrow)
      expectProblem(response, 403, 'forbidden')
    }
    expect((await exchange(await createToken(), {}, narrow)).status).toBe(201)
  })

  test('makes payment tokens and validates wallets, reaches the storefront, and is accepted by no other operation', async () => {
    const customerId = String((await merchant.api.post('customers', {})).body.id)
    const { body } = await exchange(await createToken(customerId), { acl: [{ permissions: ['*'] }] })
    const bearer = holding(`Bearer ${body.token}`)
    const accepted: string[] = []
    for (const { method, path, takesBody } of WITH_CREDENTIAL) {
      const init = takesBody ? { body: '{}', headers: { 'Content-Type': 'application/json' } } : {}
      const response = await bearer.send(method, path.replaceAll(/\{\w+\}/g, 'x'), init)
      if (response.status === 403) expectProblem(response, 403, 'forbidden')
      else accepted.push(`${method} ${path}`)
    }
    const besides = (one: string) => !/^\w+ storefront\//.test(one)
    expect(accepted.filter(besides)).toEqual(['POST tokens', 'POST digital-wallets/validation'])
    expect(accepted.length).toBeGreaterThan(15)
    expect((await bearer.post('tokens', CARD)).status).toBe(201)
    expect((await tokenize(await jwt())).headers.get('access-control-allow-origin')).toBe('*')
  })

  test('its publishable key makes and reads payment tokens, validates wallets, signs in and exchanges its word, and is accepted nowhere else', async () => {
    const refused: string[] = []
    for (const { method, path, takesBody } of WITH_CREDENTIAL) {
      const init = takesBody ? { body: '{}', headers: { 'Content-Type': 'application/json' } } : {}
      const answer = await browser.send(method, path.replaceAll(/\{\w+\}/g, 'x'), init)
      if (answer.status === 403) refused.push(`${method} ${path}`)
      else expect([404, 422]).toContain(answer.status)
    }
    const accepted = WITH_CREDENTIAL.map(({ method, path }) => `${method} ${path}`).filter(
      (one) => !refused.includes(one),
    )
    expect(accepted).toEqual([
      'POST tokens',
      'GET tokens/{token}',
      'POST digital-wallets/validation',
      'POST authentication-tokens',
      'POST authentication-tokens/{token}/exchange',
    ])
  })

  test('may have a thousand permissions, and what the last one permits', async () => {
    const [first] = TOO_MANY
    const acl = [first, { permissions: [...Array<string>(499).fill('GetToken'), 'PostToken'] }]
    expect((await tokenize(await jwt({ acl }))).status).toBe(201)
  })

  test('may do what its acl names alone', async () => {
    for (const permissions of [[], ['GetToken', 'StorefrontGetAccount']]) {
      expectProblem(await tokenize(await jwt({ acl: [{ permissions }] })), 403, 'forbidden')
    }
  })

  test('is refused for another organization, and beside a key, as every credential is', async () => {
    const other = await service.organization()
    const token = await jwt()
    const elsewhere = apiClient(service.baseUrl, other.organizationId, { Authorization: `bearer ${token}` })
    expectProblem(await elsewhere.post('tokens', CARD), 403, 'forbidden')
    const both = apiClient(service.baseUrl, merchant.organizationId, {
      Authorization: `Bearer ${token}`,
      'SVC-APIKEY': merchant.secretKey,
    })
    expectProblem(await both.post('tokens', CARD), 401, 'unauthorized')
  })

  test('of another organization is not there, under whatever key: 404', async () => {
    const other = await service.organization()
    const word = await createToken()
    const path = `authentication-tokens/${word}`
    expectProblem(await other.api.get(path), 404, 'not-found')
    expectProblem(await other.api.post(`${path}/exchange`, { acl: MAY_TOKENIZE }), 404, 'not-found')
    expectProblem(await other.api.delete(path), 404, 'not-found')
    expect((await merchant.api.get(path)).status).toBe(200)
  })

  test('is good until its end, and no longer: 401', async () => {
    const expiredTime = new Date(Date.now() + 1_500).toISOString()
    const { body } = await exchange(await createToken(), { expiredTime })
    expect(body.expiredTime).toBe(expiredTime)
    expect((await tokenize(String(body.token))).status).toBe(201)
    const refused = await waitFor('its end', async () => {
      const response = await tokenize(String(body.token))
      return response.status === 201 ? null : response
    })
    expectProblem(refused, 401, 'unauthorized')
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiredTime))
  })

  test('ends with the word it was exchanged for, consumed or not; the token can no longer be exchanged after its hour', async () => {
    const word = await createToken()
    const { body } = await exchange(word)
    expect((await tokenize(String(body.token))).status).toBe(201)
    expect((await merchant.api.delete(`authentication-tokens/${word}`)).status).toBe(204)
    expectProblem(await tokenize(String(body.token)), 401, 'unauthorized')

    const late = await createToken()
    await sql(
      "update authentication_tokens set expired_time = now() - interval '1 second' where consumed_time is null",
    )
    expectProblem(await merchant.api.get(`authentication-tokens/${late}`), 404, 'not-found')
    expectProblem(await exchange(late), 404, 'not-found')
  })

  test('ends with its customer', async () => {
    const customerId = String((await merchant.api.post('customers', {})).body.id)
    const [word, other] = [await createToken(customerId), await createToken(customerId)]
    const { body } = await exchange(word)
    expect((await merchant.api.delete(`customers/${customerId}`)).status).toBe(204)
    expectProblem(await tokenize(String(body.token)), 401, 'unauthorized')
    expectProblem(await exchange(other), 404, 'not-found')
  })

  describe('cannot be forged', () => {
    const claims = async () => decodeJwt(await jwt())
    const header = async () => {
      const { kid = '' } = decodeProtectedHeader(await jwt())
      const secret = await customerTokenKey(service.database.orm.em.fork(), service.database.vault, kid)
      return { kid, secret: secret ?? new Uint8Array() }
    }
    const signed = (
      payload: Record<string, unknown>,
      protectedHeader: { alg: string; typ?: string; kid: string },
      secret: Uint8Array,
    ) => new SignJWT(payload).setProtectedHeader(protectedHeader).sign(secret)

    test('with the right key, it is good: what follows is refused for its own reason', async () => {
      const { kid, secret } = await header()
      const token = await signed(await claims(), { alg: 'HS256', typ: 'customer+jwt', kid }, secret)
      expect((await tokenize(token)).status).toBe(201)
    })

    test.each<[string, object]>([
      ['another type', { typ: 'JWT' }],
      ['no type', { typ: undefined }],
      ['another algorithm', { alg: 'HS512' }],
      ['a key that is not in the ring', { kid: 'none' }],
    ])('with the header of %s', async (_, members) => {
      const { kid, secret } = await header()
      const given = { alg: 'HS256', typ: 'customer+jwt', kid, ...members }
      expectProblem(await tokenize(await signed(await claims(), given, secret)), 401, 'unauthorized')
    })

    test.each<[string, (own: Record<string, unknown>) => Record<string, unknown>]>([
      ['the audience of another deployment', (own) => ({ ...own, aud: 'https://other.example/storefront' })],
      ['the audience of a webhook', (own) => ({ ...own, aud: merchant.organizationId })],
      ['another issuer', (own) => ({ ...own, iss: 'https://other.example/' })],
      ['an end that has passed', (own) => ({ ...own, exp: 1 })],
      ['no end', ({ exp: _, ...own }) => own],
      ['a row that is not there', (own) => ({ ...own, jti: 'cust_none' })],
      ['the row of another organization', (own) => ({ ...own, organizationId: 'other' })],
      ['an organization that is no text', (own) => ({ ...own, organizationId: 7 })],
    ])('with the claims of %s', async (_, change) => {
      const { kid, secret } = await header()
      const given = change({ ...(await claims()) })
      const token = await signed(given, { alg: 'HS256', typ: 'customer+jwt', kid }, secret)
      expectProblem(await tokenize(token), 401, 'unauthorized')
    })

    test("with a webhook's key, which is published, nor with its own key's id as a public one", async () => {
      const { kid, privateKey } = await currentSigningKey(
        service.database.orm.em.fork(),
        service.database.vault,
        new Date(),
      )
      const token = await new SignJWT({ ...(await claims()) })
        .setProtectedHeader({ alg: 'RS256', typ: 'customer+jwt', kid })
        .sign(privateKey)
      expectProblem(await tokenize(token), 401, 'unauthorized')
      const { body } = await browser.get<{ keys: { kid: string }[] }>('/.well-known/keys')
      expect(body.keys.map((key) => key.kid)).not.toContain((await header()).kid)
      expect(JSON.stringify(body)).not.toContain('oct')
    })

    test.each([{ $ne: '' }, { $re: '.' }, 'a\0b', 7, null, ['x'], 'k'.repeat(60)])(
      "with a key's id that is none: %j",
      async (kid) => {
        const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
        const head = part({ alg: 'HS256', typ: 'customer+jwt', kid })
        const token = `${head}.${part(await claims())}.${part('not a signature')}`
        expectProblem(await tokenize(token), 401, 'unauthorized')
      },
    )

    test.each(['', 'x', 'a.b.c', 'eyJhbGciOiJub25lIn0.e30.'])('as %p', async (token) => {
      expectProblem(await tokenize(token), 401, 'unauthorized')
    })
  })

  test('its keys are encrypted, and follow one another without ending what they signed', async () => {
    const { orm, vault } = service.database
    const old = await jwt()
    const { kid } = await rotateCustomerTokenKey(orm.em.fork(), vault, new Date())
    const fresh = await jwt()
    expect(decodeProtectedHeader(fresh).kid).toBe(kid)
    expect(decodeProtectedHeader(old).kid).not.toBe(kid)
    for (const token of [old, fresh]) expect((await tokenize(token)).status).toBe(201)
    const secret = await customerTokenKey(orm.em.fork(), vault, kid)
    const stored = JSON.stringify(await sql('select * from customer_token_keys'))
    expect(stored).not.toContain(Buffer.from(secret ?? []).toString('base64url'))

    const tomorrow = new Date(Date.now() + 25 * HOUR)
    await rotateCustomerTokenKey(orm.em.fork(), vault, tomorrow)
    const left = await sql<{ kid: string }>('select kid from customer_token_keys')
    expect(left.map((key) => key.kid)).toContain(kid)
    expect(left).toHaveLength(2)
  })

  test('its values stand nowhere in the clear, and what has expired is removed', async () => {
    const word = await createToken()
    const { body } = await exchange(word)
    const rows = JSON.stringify([
      await sql('select * from authentication_tokens'),
      await sql('select * from customer_tokens'),
    ])
    expect(rows).not.toContain(word)
    expect(service.log.join('')).not.toContain(word)
    expect(service.log.join('')).not.toContain(String(body.token))
    await sql("update customer_tokens set expired_time = now() - interval '2 hours'")
    await sql("update authentication_tokens set expired_time = now() - interval '3 days'")
    await removeExpired(service.database.orm.em.fork())
    expect(await sql('select 1 from customer_tokens union all select 1 from authentication_tokens')).toEqual(
      [],
    )
  })
})
