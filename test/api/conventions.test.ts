/** What holds on every route: methods, preflights, the order in which a request is judged. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ROUTES } from '../../api/routes.ts'
import { apiClient } from '../support/api-client.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'

const ORIGIN = { Origin: 'https://shop.example' }
/** What a page of another origin may call: the operations of a credential that a browser may hold. */
const OPEN = [
  'POST tokens',
  'GET tokens/{token}',
  'POST digital-wallets/validation',
  'POST authentication-tokens/{token}/exchange',
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
