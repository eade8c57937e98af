import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createSecureServer } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, describe, expect, test } from '@jest/globals'
import { createAddressGuard } from '../../delivery/address-guard.ts'
import type { Resolve } from '../../delivery/names.ts'
import { RETRY_PLACES } from '../../delivery/retry-places.ts'
import {
  ATTEMPT_TIMEOUT,
  createSender,
  type ReceiverResponse,
  type WebhookRequest,
} from '../../delivery/sender.ts'
import { BOUNDS } from '../../delivery/slots.ts'
import { freePort } from '../../dev/services/ports.ts'
import { certificates, hasOpenssl } from '../support/certificates.ts'
import { waitFor } from '../support/wait-for.ts'

/** Stands for public addresses; the rest of loopback is internal. */
const OPEN = '127.0.0.1'
const REQUEST: Omit<WebhookRequest, 'url'> = {
  organizationId: 'org_1',
  method: 'POST',
  headers: { 'Content-Type': 'application/json', 'Webhook-Id': 'evt_1' },
  body: '{"a":1}',
  anySuccessStatus: false,
}
const cleanUps: (() => Promise<unknown> | unknown)[] = []

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function listening(server: Server, host = OPEN): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void
const http = async (handler: Handler) => `http://${OPEN}:${await listening(createHttpServer(handler))}/hooks`
const raw = async (handler: (socket: Socket) => void) =>
  `http://${OPEN}:${await listening(createServer(handler))}/hooks`

async function send(
  url: string,
  options: Partial<WebhookRequest> & { timeout?: number; lookUpTimeout?: number; resolve?: Resolve } = {},
): Promise<ReceiverResponse> {
  const { timeout = ATTEMPT_TIMEOUT, lookUpTimeout, resolve, ...request } = options
  const sender = createSender(createAddressGuard([`${OPEN}/32`]), {
    timeout,
    names: {
      ...(resolve === undefined ? {} : { resolve }),
      ...(lookUpTimeout === undefined ? {} : { timeout: lookUpTimeout }),
    },
  })
  try {
    return await sender.send({ ...REQUEST, ...request, url })
  } finally {
    await sender.close()
  }
}

describe('an attempt', () => {
  test('has 20 seconds in all', () => {
    expect(ATTEMPT_TIMEOUT).toBe(20_000)
  })

  test.each([
    [200, null],
    [201, 'status'],
    [204, 'status'],
    [404, 'status'],
    [500, 'status'],
  ])('answered %i ends with %p: 200 alone is a success', async (status, failure) => {
    const url = await http((_, response) => response.writeHead(status, { 'X-Told': 'yes' }).end())
    expect(await send(url)).toMatchObject({ status, failure, headers: { 'x-told': 'yes' } })
  })

  test.each([200, 202, 204, 299])('of a dispute event takes %i for a receipt', async (status) => {
    const url = await http((_, response) => response.writeHead(status).end())
    expect(await send(url, { anySuccessStatus: true })).toMatchObject({ status, failure: null })
  })

  test.each([301, 302, 303, 307, 308])(
    'answered %i fails as a redirect that nobody follows',
    async (status) => {
      const paths: string[] = []
      const url = await http((request, response) => {
        paths.push(request.url ?? '')
        response.writeHead(status, { Location: '/elsewhere' }).end()
      })
      expect(await send(url, { anySuccessStatus: true })).toMatchObject({ status, failure: 'redirect' })
      expect(paths).toEqual(['/hooks'])
    },
  )

  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)('by %s carries the body', async (method) => {
    const seen: unknown[] = []
    const url = await http(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      seen.push([request.method, request.headers['content-length'], Buffer.concat(chunks).toString()])
      response.end()
    })
    expect(await send(url, { method })).toMatchObject({ failure: null })
    expect(seen).toEqual([[method, '7', REQUEST.body]])
  })

  test.each<[string, Handler]>([
    ['no headers', () => {}],
    ['headers and half a body', (_, response) => void response.writeHead(200).write('half')],
    [
      'a body that drips',
      (_, response) => {
        const drip = setInterval(() => response.write('.'), 20)
        response.on('close', () => clearInterval(drip))
      },
    ],
  ])('that gets %s until its time is up fails as timeout', async (_, handler) => {
    expect(await send(await http(handler), { timeout: 300 })).toMatchObject({ failure: 'timeout' })
  })

  test('that times out in the body keeps what arrived of the response', async () => {
    const url = await http((_, response) => void response.writeHead(200).write('half'))
    expect(await send(url, { timeout: 300 })).toMatchObject({ status: 200, body: 'half', failure: 'timeout' })
  })

  test('whose name is not resolved in time fails as dns', async () => {
    const resolve: Resolve = () => new Promise(() => {})
    expect(await send('http://slow.example/', { lookUpTimeout: 300, resolve })).toMatchObject({
      status: null,
      failure: 'dns',
    })
  })

  test('has all of its time once its name is resolved', async () => {
    const url = new URL(await http((_, response) => void setTimeout(() => response.end(), 300)))
    url.hostname = 'slow.example'
    const resolve: Resolve = () =>
      new Promise((found) => setTimeout(() => found([{ address: OPEN, family: 4 }]), 400))
    expect(await send(url.href, { timeout: 500, resolve })).toMatchObject({ status: 200, failure: null })
    expect(await send(url.href, { timeout: 200, resolve })).toMatchObject({ failure: 'timeout' })
  })

  test('whose answer passes 1 MiB without an end fails, and the log keeps 16 KiB', async () => {
    const url = await http((_, response) => {
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      }
      response.on('drain', more)
      more()
    })
    const answer = await send(url)
    expect(answer).toMatchObject({ status: 200, failure: 'response-too-large' })
    expect(answer.body).toHaveLength(16 * 1024)
  })

  test('whose answer is 1 MiB exactly succeeds', async () => {
    const url = await http((_, response) => response.end('x'.repeat(1024 * 1024)))
    expect(await send(url)).toMatchObject({ status: 200, failure: null })
  })

  test('to a port where nobody listens fails as connection-refused', async () => {
    expect(await send(`http://${OPEN}:${await freePort()}/`)).toMatchObject({ failure: 'connection-refused' })
  })

  test.each<[string, (socket: Socket) => void]>([
    ['before an answer', (socket) => socket.once('data', () => socket.resetAndDestroy())],
    ['politely, without an answer', (socket) => socket.once('data', () => socket.end())],
    [
      'in the middle of the answer',
      (socket) =>
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', () => socket.resetAndDestroy())
        }),
    ],
  ])('that is hung up on %s fails as connection-reset', async (_, handler) => {
    expect(await send(await raw(handler))).toMatchObject({ failure: 'connection-reset' })
  })

  test('answered by something that is not HTTP fails as protocol', async () => {
    const url = await raw((socket) => socket.once('data', () => socket.end('220 mail.example ESMTP\r\n')))
    expect(await send(url)).toMatchObject({ failure: 'protocol' })
  })

  test.each([
    '100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0',
    '101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket',
  ])(
    'that nobody asked for %j fails as protocol and is made once, also on a kept connection',
    async (answer) => {
      let requests = 0
      const url = await raw((socket) =>
        socket.on('data', (data) => {
          if (!String(data).endsWith(REQUEST.body)) return
          requests += 1
          socket.write(`HTTP/1.1 ${requests === 1 ? '200 OK\r\nContent-Length: 0' : answer}\r\n\r\n`)
        }),
      )
      const sender = createSender(createAddressGuard([`${OPEN}/32`]))
      cleanUps.push(() => sender.close())
      const failures: unknown[] = []
      for (let made = 0; made < 3; made += 1) {
        failures.push((await sender.send({ ...REQUEST, url })).failure)
      }
      expect(failures).toEqual([null, 'protocol', 'protocol'])
      expect(requests).toBe(3)
    },
  )

  test('by https to a port that speaks no TLS fails as tls', async () => {
    const url = await raw((socket) => socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\n')))
    expect(await send(url.replace('http:', 'https:'))).toMatchObject({ failure: 'tls' })
  })

  test('by https to a server that has no certificate fails as tls', async () => {
    const server = createTlsServer({})
    server.on('tlsClientError', () => {})
    expect(await send(`https://${OPEN}:${await listening(server)}/`)).toMatchObject({ failure: 'tls' })
  })

  const withOpenssl = hasOpenssl() ? test : test.skip
  withOpenssl('by https under a certificate that nobody signed fails as tls', async () => {
    const server = createTlsServer(selfSigned())
    server.on('tlsClientError', () => {})
    expect(await send(`https://${OPEN}:${await listening(server)}/`)).toMatchObject({ failure: 'tls' })
  })

  withOpenssl('is made by HTTP/1.1 also where the receiver prefers HTTP/2', async () => {
    const versions: string[] = []
    const server = createSecureServer({ ...trusted(), allowHTTP1: true }, ({ httpVersion }, response) => {
      versions.push(httpVersion)
      response.end()
    })
    const url = `https://receiver.example:${await listening(server)}/`
    expect(await send(url, { resolve: toOpen })).toMatchObject({ status: 200, failure: null })
    expect(versions).toEqual(['1.1'])
  })

  withOpenssl('by https does not wait for the handshake of another one at its receiver', async () => {
    const behind = await listening(createHttpsServer(trusted(), (_, response) => void response.end()))
    let connections = 0
    const server = createServer((socket) => {
      connections += 1
      if (connections > 1) socket.pipe(connect(behind, OPEN).on('error', () => {})).pipe(socket)
    })
    const sender = createSender(createAddressGuard([`${OPEN}/32`]), {
      timeout: 3_000,
      names: { resolve: toOpen },
    })
    cleanUps.push(() => sender.close())
    const url = `https://receiver.example:${await listening(server)}/`
    const first = sender.send({ ...REQUEST, url })
    await waitFor('the first connection', () => (connections === 1 ? true : null))
    expect(await sender.send({ ...REQUEST, url })).toMatchObject({ status: 200, failure: null })
    expect(await first).toMatchObject({ failure: 'timeout' })
  })

  test('does not wait for others at its receiver, however many those are', async () => {
    const held: ServerResponse[] = []
    const url = await http((_, response) => void held.push(response))
    const sender = createSender(createAddressGuard([`${OPEN}/32`]))
    cleanUps.push(() => sender.close())
    const sent = Array.from({ length: BOUNDS.perReceiver.most + RETRY_PLACES }, () =>
      sender.send({ ...REQUEST, url }),
    )
    await waitFor('all requests', () => (held.length === sent.length ? true : null))
    for (const response of held) response.end()
    for (const one of await Promise.all(sent)) expect(one).toMatchObject({ failure: null })
  })

  test('to a name that nobody knows fails as dns', async () => {
    const resolve: Resolve = () =>
      Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))
    expect(await send('http://nobody.example/', { resolve })).toMatchObject({ status: null, failure: 'dns' })
    expect(await send('http://nobody.invalid/')).toMatchObject({ status: null, failure: 'dns' })
  })
})

describe('an attempt on an address that is inside', () => {
  const answering = (...responses: string[][]): Resolve => {
    let turn = 0
    return async () => {
      const addresses = responses[turn++ % responses.length] ?? []
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    }
  }

  async function everywhere() {
    const reached: string[] = []
    const server = createHttpServer((request, response) => {
      reached.push(request.socket.localAddress ?? '')
      response.end()
    })
    return { port: await listening(server, '0.0.0.0'), reached }
  }

  test.each([
    '127.0.0.2',
    '127.1.1',
    '2130706434',
    '0x7f000002',
    '0177.0.0.2',
    '0.0.0.0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.2]',
    '[::ffff:7f00:2]',
  ])('written as %s is refused before a connection', async (host) => {
    const { port, reached } = await everywhere()
    expect(await send(`http://${host}:${port}/`)).toMatchObject({ status: null, failure: 'address-refused' })
    expect(reached).toEqual([])
  })

  test('by its name is refused, also as localhost', async () => {
    const { port, reached } = await everywhere()
    const sender = createSender(createAddressGuard([]))
    cleanUps.push(() => sender.close())
    expect(await sender.send({ ...REQUEST, url: `http://localhost:${port}/` })).toMatchObject({
      failure: 'address-refused',
    })
    expect(reached).toEqual([])
  })

  test('is checked at each attempt: an answer that changes between look-ups gains nothing', async () => {
    const { port, reached } = await everywhere()
    const resolve = answering([OPEN], ['127.0.0.2'], [OPEN])
    const failures = []
    for (let turn = 0; turn < 3; turn += 1) {
      const sender = createSender(createAddressGuard([`${OPEN}/32`]), { names: { resolve } })
      failures.push((await sender.send({ ...REQUEST, url: `http://changing.example:${port}/` })).failure)
      await sender.close()
    }
    expect(failures).toEqual([null, 'address-refused', null])
    expect(reached).toEqual([OPEN, OPEN])
  })

  test('among several of a name is never connected to', async () => {
    const { port, reached } = await everywhere()
    const resolve = answering(['127.0.0.2', '::1', '10.0.0.1', OPEN])
    expect(await send(`http://several.example:${port}/`, { resolve })).toMatchObject({ failure: null })
    expect(reached).toEqual([OPEN])
  })

  test('is not reached by way of a redirect', async () => {
    const { port, reached } = await everywhere()
    const url = await http((_, response) =>
      response.writeHead(307, { Location: `http://127.0.0.2:${port}/` }).end(),
    )
    expect(await send(url)).toMatchObject({ status: 307, failure: 'redirect' })
    expect(reached).toEqual([])
  })
})

const toOpen: Resolve = async () => [{ address: OPEN, family: 4 }]

/** A certificate of `receiver.example` that this process trusts until the end of the test. */
function trusted(): { cert: string; key: string } {
  const made = certificates()
  const known = getCACertificates('default')
  cleanUps.push(() => {
    setDefaultCACertificates(known)
    made.remove()
  })
  const authority = made.authority('Test authority')
  setDefaultCACertificates([authority.ca])
  const { cert, key } = authority.issue('receiver', ['receiver.example'])
  return { cert, key }
}

function selfSigned(): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'self-signed-'))
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=127.0.0.1']
    execFileSync('openssl', [...request, '-keyout', key, '-out', cert], { stdio: 'ignore' })
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
