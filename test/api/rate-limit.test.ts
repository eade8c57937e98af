import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type ApiClient, apiClient } from '../support/api-client.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'
import { tokenBody } from '../support/tokens.ts'

const LIMIT = 30
const WINDOW = 120

describe('the rate limit', () => {
  let service: TestService
  let second: TestService

  beforeAll(async () => {
    const settings = {
      MASTER_KEY: randomBytes(32).toString('base64'),
      RATE_LIMIT: String(LIMIT),
      RATE_LIMIT_WINDOW_SECONDS: String(WINDOW),
    }
    service = await startService({ worker: false, settings })
    second = await startService({ worker: false, databaseUrl: service.databaseUrl, settings })
  })
  afterAll(async () => {
    await second.stop()
    await service.stop()
  })

  /** A new organization with a second key, through both processes. */
  async function merchant(): Promise<{
    id: string
    secretKey: string
    publishableKey: string
    here: ApiClient
    there: ApiClient
  }> {
    const { organizationId: id, secretKey, publishableKey, api } = await service.organization()
    return {
      id,
      secretKey,
      publishableKey,
      here: api,
      there: apiClient(second.baseUrl, id, { 'SVC-APIKEY': secretKey }),
    }
  }
  const remaining = ({ headers }: { headers: Headers }) => headers.get('x-ratelimit-remaining')
  const websites = async (organizationId: string) =>
    (
      await service.database.orm.em
        .fork()
        .getConnection()
        .execute('select 1 from websites where organization_id = ?', [organizationId])
    ).length

  test('is exact over two processes, and what it refuses changes nothing', async () => {
    const { id, here, there } = await merchant()
    const responses = await Promise.all(
      Array.from({ length: LIMIT + 20 }, (_, index) =>
        (index % 2 ? here : there).post('websites', { name: 'W' }),
      ),
    )
    const made = responses.filter(({ status }) => status === 201)
    expect(made).toHaveLength(LIMIT)
    expect(await websites(id)).toBe(LIMIT)
    expect(made.map((response) => Number(remaining(response))).sort((one, other) => one - other)).toEqual(
      Array.from({ length: LIMIT }, (_, index) => index),
    )
    for (const refused of responses.filter(({ status }) => status !== 201)) {
      expectProblem(refused, 429, 'rate-limit-exceeded')
      expect(refused.headers.get('x-ratelimit-limit')).toBe(String(LIMIT))
      expect(remaining(refused)).toBe('0')
      const until = Number(refused.headers.get('x-ratelimit-retry-after'))
      const wait = Number(refused.headers.get('retry-after'))
      expect(Number.isInteger(until) && Number.isInteger(wait)).toBe(true)
      expect(wait).toBeGreaterThan(0)
      expect(wait).toBeLessThanOrEqual(WINDOW)
      expect(Math.abs(until - Date.now() / 1000 - wait)).toBeLessThan(30)
    }
    expect((await here.get('websites')).status).toBe(200)
  })

  test('counts per organization, not per key, and leaves others alone', async () => {
    const { here } = await merchant()
    const { body } = await here.post('api-keys', { description: 'another' })
    const other = { 'SVC-APIKEY': String(body.secretKey) }
    expect(remaining(await here.post('websites', { name: 'W' }, other))).toBe(String(LIMIT - 2))
    for (let made = 2; made < LIMIT; made += 1) await here.post('websites', { name: 'W' })
    expectProblem(await here.post('websites', { name: 'W' }, other), 429, 'rate-limit-exceeded')
    expect(remaining(await (await merchant()).here.post('websites', { name: 'W' }))).toBe(String(LIMIT - 1))
  })

  test('counts what is refused for another reason, and says so in its headers', async () => {
    const { id, here, publishableKey } = await merchant()
    const responses = [
      await here.post('websites', {}),
      await here.post('websites?colour=red', { name: 'W' }),
      await here.send('POST', 'websites', { body: '{}', headers: { 'Content-Type': 'text/plain' } }),
      await apiClient(service.baseUrl, id, { Authorization: publishableKey }).post('websites', { name: 'W' }),
      await here.delete('webhooks/none'),
      await here.put('websites/x', { name: 'W' }, { 'If-Match': '"1"' }),
    ]
    // The fourth was refused to the publishable key, so it counts against that key alone.
    expect(responses.map((response) => [response.status, remaining(response)])).toEqual([
      [422, String(LIMIT - 1)],
      [400, String(LIMIT - 2)],
      [415, String(LIMIT - 3)],
      [403, String(LIMIT - 1)],
      [404, String(LIMIT - 4)],
      [412, String(LIMIT - 5)],
    ])
  })

  test('counts no reading, and nothing that is not authenticated or not there', async () => {
    const { id, here } = await merchant()
    const stranger = apiClient(service.baseUrl, id, { 'SVC-APIKEY': 'sk_sandbox_unknownunknownunknown' })
    const responses = [
      await here.get('websites'),
      await here.send('HEAD', 'websites'),
      await here.send('OPTIONS', 'websites'),
      await here.send('PATCH', 'websites'),
      await here.post('nothing', {}),
      await stranger.post('websites', { name: 'W' }),
    ]
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 204, 405, 404, 401])
    for (const response of responses) expect(remaining(response)).toBeNull()
    expect(remaining(await here.post('websites', { name: 'W' }))).toBe(String(LIMIT - 1))
  })

  test('cannot be used up by another organization, whose own it is that counts', async () => {
    const victim = await merchant()
    const attacker = await merchant()
    const trespasser = apiClient(service.baseUrl, victim.id, { 'SVC-APIKEY': attacker.secretKey })
    for (let made = 0; made < 5; made += 1) {
      expectProblem(await trespasser.post('websites', { name: 'W' }), 403, 'forbidden')
    }
    expect(remaining(await victim.here.post('websites', { name: 'W' }))).toBe(String(LIMIT - 1))
    expect(remaining(await attacker.here.post('websites', { name: 'W' }))).toBe(String(LIMIT - 1))
  })

  test('is not used up by what is refused to a key for its form or permissions', async () => {
    const { here, publishableKey } = await merchant()
    const restricted = await here.post('api-keys', { description: 'reader', acl: [] })
    for (const key of [publishableKey, String(restricted.body.secretKey)]) {
      const responses = await Promise.all(
        Array.from({ length: LIMIT + 5 }, () =>
          here.post('websites', { name: 'W' }, { 'SVC-APIKEY': '', Authorization: key }),
        ),
      )
      expect(new Set(responses.map(({ status }) => status))).toEqual(
        new Set([key.startsWith('pk_') ? 403 : 401]),
      )
    }
    const refused = await Promise.all(
      Array.from({ length: LIMIT + 5 }, () =>
        here.post('websites', { name: 'W' }, { 'SVC-APIKEY': String(restricted.body.secretKey) }),
      ),
    )
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([403]))
    expect(remaining(await here.post('websites', { name: 'W' }))).toBe(String(LIMIT - 2))
  })

  test('lets browsers use a tenth of it together', async () => {
    const { id, here, publishableKey } = await merchant()
    const browser = apiClient(service.baseUrl, id, { Authorization: publishableKey })
    const token = () => browser.post('tokens', tokenBody())
    const responses = []
    for (let made = 0; made <= LIMIT / 10; made += 1) responses.push(await token())
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201, 429])
    expect(remaining(responses[0] as never)).toBe(String(LIMIT / 10 - 1))
    expect(remaining(await here.post('websites', { name: 'W' }))).toBe(String(LIMIT - 4))
  })

  test('is exact for browsers too whose requests come at once, and counts those alone that it lets through', async () => {
    const { id, here, publishableKey } = await merchant()
    const browser = apiClient(service.baseUrl, id, { Authorization: publishableKey })
    const responses = await Promise.all(Array.from({ length: 12 }, () => browser.post('tokens', tokenBody())))
    const made = responses.filter(({ status }) => status === 201)
    expect(made.map((response) => Number(remaining(response))).sort()).toEqual([0, 1, 2])
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(9)
    expect(remaining(await here.post('websites', { name: 'W' }))).toBe(String(LIMIT - 4))
  })

  test('is told in the fields of the IETF draft as well', async () => {
    const { here } = await merchant()
    const { headers } = await here.post('websites', { name: 'W' })
    expect(headers.get('ratelimit-policy')).toBe(`"default";q=${LIMIT};w=${WINDOW}`)
    const [, left, seconds] = /^"default";r=(\d+);t=(\d+)$/.exec(headers.get('ratelimit') ?? '') ?? []
    expect(left).toBe(String(LIMIT - 1))
    expect(Number(seconds)).toBeGreaterThan(0)
    expect(Number(seconds)).toBeLessThanOrEqual(WINDOW)
  })

  test('has one of its own for reads, ten times as large', async () => {
    const { here } = await merchant()
    const reads = []
    for (let made = 0; made < 10 * LIMIT; made += 50)
      reads.push(...(await Promise.all(Array.from({ length: 50 }, () => here.get('websites?limit=0')))))
    expect(new Set(reads.map(({ status }) => status))).toEqual(new Set([200]))
    const refused = await here.get('websites')
    expectProblem(refused, 429, 'rate-limit-exceeded')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await here.post('websites', { name: 'W' })).status).toBe(201)
  })

  test('lets browsers read a tenth of that together', async () => {
    const { id, here, publishableKey } = await merchant()
    const browser = apiClient(service.baseUrl, id, { Authorization: publishableKey })
    const statuses = []
    for (let made = 0; made <= LIMIT; made += 1) statuses.push((await browser.get('tokens/none')).status)
    expect(statuses.filter((status) => status === 404)).toHaveLength(LIMIT)
    expect(statuses.at(-1)).toBe(429)
    expect((await here.get('websites')).status).toBe(200)
  })

  test('begins anew when its window has passed', async () => {
    const { id, here } = await merchant()
    await here.post('websites', { name: 'W' })
    await service.database.orm.em
      .fork()
      .getConnection()
      .execute('update rate_limits set expire = extract(epoch from now()) * 1000 - 1 where key = ?', [id])
    expect(remaining(await here.post('websites', { name: 'W' }))).toBe(String(LIMIT - 1))
  })
})

describe('the rate limit without settings', () => {
  test('is 3000 writes in ten minutes', async () => {
    const service = await startService({ worker: false })
    try {
      const { organizationId, api } = await service.organization()
      const { headers } = await api.post('websites', { name: 'W' })
      expect(headers.get('x-ratelimit-limit')).toBe('3000')
      expect(headers.get('x-ratelimit-remaining')).toBe('2999')
      const [row] = await service.database.orm.em
        .fork()
        .getConnection()
        .execute<{ expire: string }[]>('select expire from rate_limits where key = ?', [organizationId])
      const left = Number(row?.expire) - Date.now()
      expect(left).toBeGreaterThan(9 * 60_000)
      expect(left).toBeLessThanOrEqual(10 * 60_000)
    } finally {
      await service.stop()
    }
  })
})
