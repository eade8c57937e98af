import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { PROBLEMS, type ProblemCode } from '../../api/http/problems.ts'
import { type ApiResponse, apiClient } from '../support/api-client.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'

interface ProblemBody {
  type: string
  title: string
  status: number
  detail: string
  instance: string
  code: string
  invalidFields?: { field: string; message: string }[]
  [member: string]: unknown
}

describe('what the API refuses', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const JSON_TYPE = { 'Content-Type': 'application/json' }
  const count = async (table: string): Promise<number> => {
    const [row] = await service.database.orm.em
      .fork()
      .getConnection()
      .execute<{ count: number }[]>(`select count(*)::int as count from ${table}`)
    return row?.count ?? -1
  }

  function expectFullProblem(
    response: ApiResponse<ProblemBody>,
    status: number,
    code: ProblemCode,
  ): ProblemBody {
    expect(response.body).toMatchObject({ status, code, type: `${service.baseUrl}/problems/${code}` })
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(response.body.instance).toBe(`urn:request:${response.headers.get('request-id')}`)
    expect(response.body.title).toBe(PROBLEMS[code].title)
    expect(response.body.detail).toMatch(/^\S.+\S$/s)
    return response.body
  }

  test('an order of an unknown customer, website and plan: 422 that names all three, and nothing is written', async () => {
    const before = [await count('subscriptions'), await count('events'), await count('wake_ups')]
    const response = await merchant.api.post<ProblemBody>('subscriptions', {
      ...orderBody(merchant),
      customerId: 'nobody',
      websiteId: 'nowhere',
      items: [{ plan: { id: merchant.planId } }, { plan: { id: 'nothing' } }],
    })
    const { invalidFields, detail } = expectFullProblem(response, 422, 'validation-error')
    const fields = ['customerId', 'items.1.plan.id', 'websiteId']
    expect(invalidFields?.map(({ field }) => field).sort()).toEqual(fields)
    for (const field of fields) expect(detail).toContain(field)
    expect([await count('subscriptions'), await count('events'), await count('wake_ups')]).toEqual(before)
  })

  test('a body with several mistakes: 422 that names every one with a dotted path', async () => {
    const response = await merchant.api.post<ProblemBody>('subscriptions', {
      orderType: 'something',
      customerId: 'has space',
      items: [
        { plan: {}, quantity: 0 },
        { plan: { id: merchant.planId }, quantity: 1.5 },
      ],
      startTime: '2026-01-31T09:00:00',
      typo: 1,
    })
    const { invalidFields } = expectFullProblem(response, 422, 'validation-error')
    expect(invalidFields?.map(({ field }) => field).sort()).toEqual([
      'customerId',
      'items.0.plan.id',
      'items.0.quantity',
      'items.1.quantity',
      'orderType',
      'startTime',
      'typo',
      'websiteId',
    ])
  })

  test.each([
    ['plans of different currencies', { currency: 'USD' }, 'items.1.plan.id'],
    ['plans of different periods', { recurringInterval: { unit: 'year', length: 1 } }, 'items.1.plan.id'],
  ])('an order of %s: 422', async (_, difference, field) => {
    const other = await merchant.api.post('plans', {
      name: 'Other',
      currency: 'EUR',
      pricing: { formula: 'fixed-fee', price: 1 },
      recurringInterval: { unit: 'month', length: 1 },
      ...difference,
    })
    const items = [{ plan: { id: merchant.planId } }, { plan: { id: other.body.id } }]
    const response = await merchant.api.post<ProblemBody>('subscriptions', orderBody(merchant, { items }))
    expect(expectFullProblem(response, 422, 'validation-error').invalidFields).toMatchObject([{ field }])
  })

  test.each([
    [
      'a startTime more than a period ago',
      { startTime: new Date(Date.now() - 40 * 86_400_000).toISOString() },
      'startTime',
    ],
    ['an abandonTime in the past', { abandonTime: new Date(Date.now() - 1000).toISOString() }, 'abandonTime'],
  ])('%s: 422', async (_, members, field) => {
    const response = await merchant.api.post<ProblemBody>('subscriptions', orderBody(merchant, members))
    expect(
      expectFullProblem(response, 422, 'validation-error').invalidFields?.map((one) => one.field),
    ).toEqual([field])
  })

  test('a price with more decimals than its currency: 422', async () => {
    const plan = {
      name: 'P',
      currency: 'JPY',
      pricing: { formula: 'fixed-fee', price: 9.5 },
      recurringInterval: { unit: 'day', length: 1 },
    }
    const response = await merchant.api.post<ProblemBody>('plans', plan)
    expect(expectFullProblem(response, 422, 'validation-error').invalidFields?.[0]?.field).toBe(
      'pricing.price',
    )
  })

  test.each(['a\u0000b', 'half a pair \ud800'])('a text that no database keeps: 422', async (name) => {
    const response = await merchant.api.post<ProblemBody>('websites', {
      name,
      customFields: { deep: [name] },
    })
    const fields = expectFullProblem(response, 422, 'validation-error').invalidFields?.map(
      ({ field }) => field,
    )
    expect(fields).toEqual(['name', 'customFields.deep.0'])
  })

  test.each(['{', '', '\ufeff{}x', '{"a":1,}'])('a body that is not JSON (%j): 400', async (body) => {
    expectFullProblem(
      await merchant.api.send('POST', 'websites', { headers: JSON_TYPE, body }),
      400,
      'malformed-request',
    )
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'])(
    'a body of type %s: 415',
    async (type) => {
      const response = await merchant.api.send<ProblemBody>('POST', 'websites', {
        headers: { 'Content-Type': type },
        body: '{}',
      })
      expectFullProblem(response, 415, 'unsupported-media-type')
    },
  )

  test.each(['application/json; charset=utf-8', 'application/vnd.shop+json'])(
    'a body of type %s is read',
    async (type) => {
      const body = JSON.stringify({ name: 'Shop' })
      expect(
        (await merchant.api.send('POST', 'websites', { headers: { 'Content-Type': type }, body })).status,
      ).toBe(201)
    },
  )

  test('a body over 1 MiB: 413, told by its length or by its bytes', async () => {
    const body = JSON.stringify({ name: 'x'.repeat(1024 * 1024) })
    expectFullProblem(
      await merchant.api.send('POST', 'websites', { headers: JSON_TYPE, body }),
      413,
      'payload-too-large',
    )
    const chunked = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(body))
        controller.close()
      },
    })
    const init = { headers: JSON_TYPE, body: chunked, duplex: 'half' } as RequestInit
    expectFullProblem(await merchant.api.send('POST', 'websites', init), 413, 'payload-too-large')
  })

  test.each([
    ['none', {}],
    ['an unknown one', { 'SVC-APIKEY': 'sk_sandbox_0000000000000000000000000000' }],
    ['one of the other environment', { 'SVC-APIKEY': 'sk_live_0000000000000000000000000000' }],
    ['two at once', { 'SVC-APIKEY': 'sk_sandbox_1', Authorization: 'sk_sandbox_1' }],
  ])('credential: %s: 401', async (_, headers) => {
    const stranger = apiClient(service.baseUrl, merchant.organizationId, headers as Record<string, string>)
    expectFullProblem(await stranger.get<ProblemBody>('subscriptions/x'), 401, 'unauthorized')
  })

  test('another organization: 403, whether or not it exists', async () => {
    const other = await service.organization()
    for (const organizationId of [other.organizationId, 'no-such-organization']) {
      const trespasser = apiClient(service.baseUrl, organizationId, { 'SVC-APIKEY': merchant.secretKey })
      expectFullProblem(await trespasser.get<ProblemBody>('subscriptions/x'), 403, 'forbidden')
    }
  })

  test('a publishable key where a secret one is wanted: 403', async () => {
    const browser = apiClient(service.baseUrl, merchant.organizationId, {
      Authorization: merchant.publishableKey,
    })
    expectFullProblem(await browser.get<ProblemBody>('subscriptions/x'), 403, 'forbidden')
  })

  test('an id of another organization: 404, like one that is nowhere', async () => {
    const other = await catalogue(service)
    const placed = await other.api.post('subscriptions', orderBody(other))
    for (const id of [String(placed.body.id), 'nowhere']) {
      expectFullProblem(await merchant.api.get<ProblemBody>(`subscriptions/${id}`), 404, 'not-found')
    }
  })

  test('an unknown path: 404 before any credential is asked for; a known path with another method: 405 with Allow', async () => {
    const stranger = apiClient(service.baseUrl, merchant.organizationId, {})
    expectFullProblem(await stranger.get<ProblemBody>('no-such-thing'), 404, 'not-found')
    const response = await stranger.send<ProblemBody>('DELETE', 'invoices/x')
    expectFullProblem(response, 405, 'method-not-allowed')
    expect(response.headers.get('allow')).toContain('GET')
    expect((await stranger.send('OPTIONS', 'invoices/x')).status).toBe(204)
  })

  test('bytes that are not HTTP: a problem document all the same', async () => {
    const { hostname, port } = new URL(service.baseUrl)
    const socket = connect(Number(port), hostname)
    socket.end('NOT HTTP AT ALL\r\n\r\n')
    let text = ''
    for await (const chunk of socket) text += chunk
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    const [, body = ''] = text.split('\r\n\r\n')
    expect(JSON.parse(body)).toMatchObject({ status: 400, code: 'malformed-request' })
  })

  test('no key value is ever in the log', () => {
    expect(service.log.join('')).not.toContain(merchant.secretKey)
    expect(service.log.join('')).not.toContain('sk_sandbox_0000')
  })
})
