/** What is no HTTP, too large or too slow also gets a problem document, and its connection is closed. */
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pino from 'pino'
import { respondToUnreadRequests } from '../../api/server.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { rawRequest } from '../support/raw-request.ts'
import { startService, type TestService } from '../support/service.ts'

function responsesOf(text: string) {
  return text
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter((part) => part !== '')
    .map((part) => {
      const [head = '', body = ''] = part.split('\r\n\r\n')
      const [, ...lines] = head.split('\r\n')
      const headers = new Headers(lines.map((line) => line.split(': ') as [string, string]))
      return { status: Number(part.slice(9, 12)), headers, body }
    })
}

function expectDocument(
  response: ReturnType<typeof responsesOf>[number] | undefined,
  status: number,
  code: string,
) {
  const document = JSON.parse(response?.body ?? '')
  expect({ status: response?.status, ...document }).toMatchObject({ status, code })
  expect(response?.headers.get('content-type')).toBe('application/problem+json')
  expect(response?.headers.get('cache-control')).toBe('no-store')
  expect(response?.headers.get('connection')).toBe('close')
  expect(Number(response?.headers.get('content-length'))).toBe(Buffer.byteLength(response?.body ?? ''))
  expect(document.instance).toBe(`urn:request:${response?.headers.get('request-id')}`)
}

describe('a request to the API', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const get = (path: string, ...headers: string[]) => [
    `GET ${path} HTTP/1.1`,
    'Host: any',
    ...headers,
    '',
    '',
  ]
  const chunked = ['POST /x HTTP/1.1', 'Host: any', 'Transfer-Encoding: chunked', '']

  test.each<[string, string[], number, string]>([
    ['no HTTP', ['NOT HTTP AT ALL', '', ''], 400, 'malformed-request'],
    ['a method that is none', ['G@T / HTTP/1.1', 'Host: any', '', ''], 400, 'malformed-request'],
    ['a header without a name', ['GET / HTTP/1.1', ': x', '', ''], 400, 'malformed-request'],
    ['two lengths', get('/', 'Content-Length: 1', 'Content-Length: 2'), 400, 'malformed-request'],
    [
      'a length beside chunks',
      get('/', 'Content-Length: 1', 'Transfer-Encoding: chunked'),
      400,
      'malformed-request',
    ],
    ['a chunk without a size', [...chunked, 'zz', ''], 400, 'malformed-request'],
    ['no Host', ['GET /status HTTP/1.1', 'Connection: close', '', ''], 400, 'malformed-request'],
    ['a path of 17 KiB', get(`/${'x'.repeat(17 * 1024)}`), 431, 'request-header-too-large'],
    [
      'a header of 17 KiB',
      get('/status', `X-Long: ${'x'.repeat(17 * 1024)}`),
      431,
      'request-header-too-large',
    ],
    ['an expectation', get('/status', 'Expect: 200-ok', 'Connection: close'), 417, 'expectation-failed'],
    [
      'two expectations',
      get('/status', 'Expect: 100-continue, x', 'Connection: close'),
      417,
      'expectation-failed',
    ],
  ])('with %s is answered by a problem document', async (_, lines, status, code) => {
    const responses = responsesOf(await rawRequest(service.baseUrl, lines)).filter(
      (one) => one.status !== 100,
    )
    expect(responses).toHaveLength(1)
    expectDocument(responses[0], status, code)
  })

  test('that expects 100-continue is told to continue, and answered', async () => {
    const body = '{"name":"W"}'
    const lines = [
      `POST /organizations/${merchant.organizationId}/websites HTTP/1.1`,
      ...['Host: any', `SVC-APIKEY: ${merchant.secretKey}`, 'Content-Type: application/json'],
      ...[`Content-Length: ${body.length}`, 'Expect: 100-Continue', 'Connection: close', '', body],
    ]
    expect(responsesOf(await rawRequest(service.baseUrl, lines)).map(({ status }) => status)).toEqual([
      100, 201,
    ])
  })

  test('that was read is answered before the connection ends for what followed it', async () => {
    const lines = get(
      `/organizations/${merchant.organizationId}/websites`,
      `SVC-APIKEY: ${merchant.secretKey}`,
    )
    const [first, second, ...others] = responsesOf(
      await rawRequest(service.baseUrl, [...lines.slice(0, -1), 'NOT HTTP', '', '']),
    )
    expect(first?.status).toBe(200)
    expectDocument(second, 400, 'malformed-request')
    expect(others).toEqual([])
  })

  test('that is not read is logged, with its id', async () => {
    const [response] = responsesOf(await rawRequest(service.baseUrl, ['NOT HTTP', '', '']))
    const id = response?.headers.get('request-id')
    const line = service.log.map((text) => JSON.parse(text)).find(({ requestId }) => requestId === id)
    expect(line).toMatchObject({ status: 400, reason: 'HPE_INVALID_METHOD', msg: 'request' })
  })
})

describe('a request that does not arrive in time', () => {
  let server: Server
  let baseUrl: string
  let isResponding = false

  beforeAll(async () => {
    const options = { headersTimeout: 200, requestTimeout: 400, connectionsCheckingInterval: 50 }
    server = createServer(options, (request, response) => {
      if (isResponding) response.write('begun')
      request.resume()
    })
    respondToUnreadRequests(server, 'https://billing.example', pino({ level: 'silent' }))
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => void server.close(resolve))
  })

  test.each([
    ['header', ['POST /x HTTP/1.1', 'Host: any', 'X-Unfinished: ']],
    ['body', ['POST /x HTTP/1.1', 'Host: any', 'Content-Length: 10', '', 'half']],
  ])('with its %s is 408', async (_, lines) => {
    isResponding = false
    const responses = responsesOf(await rawRequest(baseUrl, lines))
    expect(responses).toHaveLength(1)
    expectDocument(responses[0], 408, 'request-timeout')
  })

  test('is cut off if its response has begun', async () => {
    isResponding = true
    const lines = ['POST /x HTTP/1.1', 'Host: any', 'Content-Length: 10', '', 'half']
    const text = await rawRequest(baseUrl, lines)
    expect(text).toMatch(/^HTTP\/1\.1 200 /)
    expect(text).not.toContain('408')
  })

  test('does not keep its connection open, whatever the caller does', async () => {
    isResponding = false
    const { port } = new URL(baseUrl)
    const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true })
    socket.write('NOT HTTP\r\n\r\n')
    socket.resume()
    await new Promise((resolve) => void socket.once('end', resolve))
    const refused = new Promise((resolve) => void socket.once('error', resolve))
    const typing = setInterval(() => socket.write('more\r\n'), 100)
    await refused
    clearInterval(typing)
    socket.destroy()
  })
})
