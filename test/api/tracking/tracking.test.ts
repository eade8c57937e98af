import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { removeExpired } from '../../../worker/retention.ts'
import { type ApiResponse, apiClient } from '../../support/api-client.ts'
import { TEST_CARDS } from '../../support/cards.ts'
import { type Catalogue, catalogue } from '../../support/catalogue.ts'
import { create } from '../../support/create.ts'
import { expectProblem } from '../../support/expect-problem.ts'
import { startService, type TestService } from '../../support/service.ts'
import { makeToken, tokenBody } from '../../support/tokens.ts'
import { waitFor } from '../../support/wait-for.ts'

interface Tracked {
  readonly id: string
  readonly request: string | null
  readonly response: string | null
  readonly [member: string]: unknown
}

describe('the log of requests', () => {
  let service: TestService
  let merchant: Catalogue
  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const sql = <T>(text: string, values: unknown[] = []) =>
    service.database.orm.em.fork().getConnection().execute<T[]>(text, values)
  const trackedOf = (response: Pick<ApiResponse, 'headers'>, api = merchant.api): Promise<Tracked> =>
    waitFor('the entry of the log', async () => {
      const { status, body } = await api.get<Tracked>(`tracking/api/${response.headers.get('request-id')}`)
      return status === 200 ? body : null
    })

  test('has what a request was and what it was answered, under its Request-Id', async () => {
    const before = Date.now()
    const sent = { email: 'grace@example.com', websiteId: merchant.websiteId }
    const response = await merchant.api.post('customers', sent, { 'User-Agent': 'shop/1.0' })
    const entry = await trackedOf(response)
    const base = `${service.baseUrl}/organizations/${merchant.organizationId}`
    expect(entry).toEqual({
      id: response.headers.get('request-id'),
      organizationId: merchant.organizationId,
      status: 201,
      url: `${base}/customers`,
      route: '/organizations/{organizationId}/customers',
      method: 'POST',
      request: JSON.stringify(sent),
      response: JSON.stringify(response.body),
      requestHeaders: expect.objectContaining({ 'user-agent': 'shop/1.0', 'svc-apikey': '***' }),
      responseHeaders: expect.objectContaining({ location: `${base}/customers/${response.body.id}` }),
      user: {
        userId: null,
        apiKeyId: expect.stringMatching(/^api_key_/),
        email: null,
        firstName: null,
        lastName: null,
        ipAddress: '127.0.0.1',
        userAgent: 'shop/1.0',
        fingerprint: null,
        isSupport: false,
      },
      ipAddress: '127.0.0.1',
      relatedResourceIds: [merchant.websiteId, response.body.id],
      duration: expect.any(Number),
      revision: 1,
      createdTime: expect.any(String),
      updatedTime: expect.any(String),
      _links: [{ rel: 'self', href: `${base}/tracking/api/${response.headers.get('request-id')}` }],
    })
    expect(Date.parse(String(entry.createdTime))).toBeGreaterThanOrEqual(before)
    expect(entry.duration).toBeLessThanOrEqual(Date.now() - before)
  })

  test('has requests whose caller did not wait for the response', async () => {
    const { api, customerId, organizationId, secretKey } = merchant
    const held = await service.database.orm.em.fork().transactional(async (em) => {
      await em
        .getConnection()
        .execute(
          'select from customers where organization_id = ? and id = ? for update',
          [organizationId, customerId],
          'all',
          em.getTransactionContext(),
        )
      const gone = fetch(`${service.baseUrl}/organizations/${organizationId}/customers/${customerId}`, {
        method: 'PUT',
        headers: { 'SVC-APIKEY': secretKey, 'Content-Type': 'application/json' },
        body: JSON.stringify({ firstName: 'Grace' }),
        signal: AbortSignal.timeout(2_000),
      })
      return await gone.then(
        () => false,
        () => true,
      )
    })
    expect(held).toBe(true)
    const entry = await waitFor('the entry of the log', async () => {
      const { body } = await api.get<Tracked[]>(`tracking/api?filter=method:PUT`)
      return body[0] ?? null
    })
    expect(entry).toMatchObject({ route: expect.stringMatching(/customers\/\{id\}$/), status: 200 })
  })

  test('has reads and refusals of every kind, but nothing of a caller without a credential', async () => {
    const { api, organizationId, customerId } = merchant
    const other = await service.organization()
    const elsewhere = apiClient(service.baseUrl, other.organizationId, { 'SVC-APIKEY': merchant.secretKey })
    const made: [ApiResponse, Record<string, unknown>][] = [
      [await api.get(`customers/${customerId}`), { status: 200, method: 'GET', request: null }],
      [await api.send('HEAD', 'customers'), { status: 200, method: 'HEAD', response: null }],
      [await api.get('customers/nobody'), { status: 404, relatedResourceIds: ['nobody'] }],
      [await api.get('customers?colour=red'), { status: 400 }],
      [await api.post('customers', { colour: 'red' }), { status: 422, request: '{"colour":"red"}' }],
      [await elsewhere.get('customers'), { status: 403, organizationId }],
      [await api.get('/organizations'), { status: 200, route: '/organizations' }],
      [await api.send('POST', 'customers', { body: '{' }), { status: 415, request: null }],
    ]
    for (const [response, expected] of made) expect(await trackedOf(response)).toMatchObject(expected)
    const strangers = apiClient(service.baseUrl, organizationId, { 'SVC-APIKEY': 'sk_sandbox_nobody' })
    const unknown = await strangers.get('customers')
    expectProblem(unknown, 401, 'unauthorized')
    const later = await api.get('customers?limit=0')
    await trackedOf(later)
    expect(await sql('select from api_requests where id = ?', [unknown.headers.get('request-id')])).toEqual(
      [],
    )
    expect(await sql('select from api_requests where organization_id = ?', [other.organizationId])).toEqual(
      [],
    )
  })

  test('never has card data, keys, tokens, passwords or the values of custom headers', async () => {
    const { api, customerId, publishableKey } = merchant
    const secrets = new Set<string>([merchant.secretKey, publishableKey, 'wörd-7', 'header-secret-7'])
    const key = await create(api, 'api-keys', { description: 'a key' })
    secrets.add(String(key.secretKey))
    const browser = apiClient(service.baseUrl, merchant.organizationId, { Authorization: publishableKey })
    const token = await makeToken(browser)
    await browser.get(`tokens/${token}`)
    await create(api, 'payment-instruments', { customerId, token })
    await api.post('tokens', tokenBody('4111111111111112'))
    await api.post('customers', { email: TEST_CARDS.approves, firstName: `cvv": "9173` })
    await api.get(`customers?q=${TEST_CARDS.approves}`)
    await api.get(`customers/${TEST_CARDS.approves}`)
    const signIn = await create(api, 'authentication-tokens', { mode: 'passwordless', customerId })
    const exchanged = await browser.post(`authentication-tokens/${signIn.token}/exchange`, {
      acl: [{ permissions: ['PostToken'] }],
    })
    const customer = apiClient(service.baseUrl, merchant.organizationId, {
      Authorization: `Bearer ${exchanged.body.token}`,
    })
    const asCustomer = await customer.post('tokens', tokenBody())
    for (const secret of [token, signIn.token, exchanged.body.token, asCustomer.body.id])
      secrets.add(String(secret))
    await create(api, 'service-credentials/webhook', {
      host: 'hooks.example.com',
      auth: { type: 'basic', username: 'ada', password: 'wörd-7' },
    })
    const webhook = await create(api, 'webhooks', {
      url: 'https://hooks.example.com/',
      headers: [{ name: 'X-Secret', value: 'header-secret-7' }],
    })
    const last = await api.get(`webhooks/${webhook.id}`)
    await api.get('api-keys')
    expect((await trackedOf(asCustomer)).user).toMatchObject({
      apiKeyId: null,
      userId: expect.stringMatching(/^cust_/),
    })
    await trackedOf(last)
    const rows = JSON.stringify(await sql('select * from api_requests'))
    expect(rows).toContain('X-Secret')
    for (const secret of secrets) expect([secret, rows.includes(secret)]).toEqual([secret, false])
    expect(rows).not.toMatch(/4111111111111111|"cvv\\*":\\*"\d/)
  })

  test('has no security code of a token that is refused, whatever its member is called', async () => {
    const card = { pan: TEST_CARDS.approves, expMonth: 12, expYear: 2090 }
    const bodies = [
      ...['cvv2', 'CVV', 'securityCode', 'code', 'number'].map((name) => ({ ...card, [name]: '90817' })),
      { ...card, cvv: ['90817'] },
      { ...card, cvv: { value: 90817 } },
    ].map((paymentInstrument): object => ({ method: 'payment-card', paymentInstrument }))
    for (const body of [...bodies, { card: { ...card, code: '90817' } }]) {
      const response = await merchant.api.post('tokens', body)
      expect(response.status).toBe(422)
      const { request } = await trackedOf(response)
      expect(request).not.toContain('90817')
    }
    const elsewhere = await merchant.api.post('payment-instruments', { CVC2: '90817', pan: ['411'] })
    expect(elsewhere.status).toBe(422)
    expect((await trackedOf(elsewhere)).request).toBe('{"CVC2":"***","pan":"***"')
  })

  test('keeps a bounded part of bodies', async () => {
    const notes = { customFields: { note: 'n'.repeat(20_000) } }
    const response = await merchant.api.post('customers', notes)
    const entry = await trackedOf(response)
    expect(entry.request).toBe(JSON.stringify(notes).slice(0, 8_192))
    expect(entry.response).toHaveLength(8_192)
  })

  test('lists, filters, sorts, searches, selects and expands', async () => {
    const { api, organizationId } = merchant
    const { body: customer } = await api.post(
      'customers',
      { lastName: 'Hopper' },
      { 'User-Agent': 'finder/2' },
    )
    const read = await api.get(`customers/${customer.id}`, { 'User-Agent': 'finder/2' })
    await trackedOf(read)
    const listed = async (query: string) => (await api.get<Tracked[]>(`tracking/api?${query}`)).body
    const found = await listed('filter=user.userAgent:finder/2&sort=-duration')
    expect(found).toHaveLength(2)
    expect(await listed('filter=user.userAgent:finder/2;method:GET')).toMatchObject([
      { method: 'GET', relatedResourceIds: [customer.id] },
    ])
    expect(await listed(`filter=user.userAgent:finder/2;status:201..299&fields=status`)).toEqual([
      { status: 201 },
    ])
    const route = '/organizations/{organizationId}/customers/{id}'
    const byRoute = await listed(`filter=route:${encodeURIComponent(route)};method:GET`)
    expect(byRoute.map(({ id }) => id)).toContain(read.headers.get('request-id'))
    expect(await listed(`q=customers/${customer.id}`)).toHaveLength(1)
    const [expanded] = await listed('limit=1&expand=organization')
    expect(expanded?._embedded).toMatchObject({ organization: { id: organizationId } })
    expectProblem(await api.get('tracking/api?filter=colour:red'), 400, 'malformed-request')
    expectProblem(await api.get('tracking/api/none'), 404, 'not-found')
  })

  test('is kept for 30 days', async () => {
    const response = await merchant.api.get('customers?limit=0')
    const { id } = await trackedOf(response)
    const age = (interval: string) =>
      sql(`update api_requests set created_time = now() - interval '${interval}' where id = ?`, [id])
    await age('29 days 23 hours')
    await removeExpired(service.database.orm.em.fork())
    expect((await merchant.api.get(`tracking/api/${id}`)).status).toBe(200)
    await age('30 days 1 hour')
    await removeExpired(service.database.orm.em.fork())
    expectProblem(await merchant.api.get(`tracking/api/${id}`), 404, 'not-found')
  })
})
