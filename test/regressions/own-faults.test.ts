import { execFile } from 'node:child_process'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from '@jest/globals'
import { createAddressGuard } from '../../delivery/address-guard.ts'
import type { Resolve } from '../../delivery/names.ts'
import { createSender, type Sender } from '../../delivery/sender.ts'
import { ROOT } from '../structure/import-graph.ts'

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const cleanUps: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** By the request: which connection it came on, and which request of that connection it is. */
async function receiver(response: (socket: Socket, connection: number, request: number) => void) {
  const sockets: Socket[] = []
  let requests = 0
  const server = createServer((socket) => {
    const connection = sockets.push(socket)
    let ofConnection = 0
    socket.on('error', () => {})
    socket.on('data', () => {
      requests += 1
      ofConnection += 1
      response(socket, connection, ofConnection)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    connections: () => sockets.length,
    requests: () => requests,
  }
}

function sender(timeout: number): Sender {
  const resolve: Resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const made = createSender(createAddressGuard(['127.0.0.0/8']), { timeout, names: { resolve } })
  cleanUps.push(() => made.close())
  return made
}

/** Sends once, and lets the connection become free. */
async function send(by: Sender, url: string) {
  const request = { method: 'POST', headers: {}, body: '{}', anySuccessStatus: false } as const
  const response = await by.send({ ...request, organizationId: 'org_1', url })
  await new Promise(setImmediate)
  return response
}

describe('an attempt', () => {
  test('is not over when this process stood still until its time was up: the answer is there', async () => {
    const { url } = await receiver((socket) => {
      socket.write(OK)
      // Nothing runs from here on for longer than the attempt may take.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500)
    })
    expect(await send(sender(1_000), url)).toMatchObject({ status: 200, failure: null })
  })

  test('that a receiver hung up on while this process stood still is made again', async () => {
    const { url } = await receiver((socket) => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500)
      socket.resetAndDestroy()
    })
    await expect(send(sender(20_000), url)).rejects.toMatchObject({ fault: 'stood-still' })
  })

  test('on a kept connection that its receiver has closed is made once more on a fresh one', async () => {
    const { url, connections, requests } = await receiver((socket, connection, request) => {
      if (connection === 1 && request > 1) socket.resetAndDestroy()
      else socket.write(OK)
    })
    const by = sender(5_000)
    expect(await send(by, url)).toMatchObject({ failure: null })
    expect(await send(by, url)).toMatchObject({ failure: null })
    expect([connections(), requests()]).toEqual([2, 3])
  })

  test('that is hung up on twice, or on a fresh connection, has failed', async () => {
    const { url, requests } = await receiver((socket, connection, request) => {
      if (connection === 1 && request === 1) socket.write(OK)
      else socket.resetAndDestroy()
    })
    const by = sender(5_000)
    expect(await send(by, url)).toMatchObject({ failure: null })
    expect(await send(by, url)).toMatchObject({ failure: 'connection-reset' })
    expect(requests()).toBe(3)
    expect(await send(by, url)).toMatchObject({ failure: 'connection-reset' })
    expect(requests()).toBe(4)
  })

  test('on a kept connection that is reset later has failed: the receiver may have taken the event', async () => {
    const { url, requests } = await receiver((socket, connection, request) => {
      if (connection === 1 && request > 1) setTimeout(() => socket.resetAndDestroy(), 1_200)
      else socket.write(OK)
    })
    const by = sender(5_000)
    expect(await send(by, url)).toMatchObject({ failure: null })
    expect(await send(by, url)).toMatchObject({ failure: 'connection-reset' })
    expect(requests()).toBe(2)
  })

  test('that is made once more has what remains of its time, also if the name is resolved again', async () => {
    const { url, requests } = await receiver((socket, connection, request) => {
      if (connection > 1) setTimeout(() => socket.write(OK), 700)
      else if (request > 1) setTimeout(() => socket.resetAndDestroy(), 600)
      else socket.write(OK)
    })
    const by = sender(1_000)
    const named = url.replace('127.0.0.1', 'receiver.example')
    expect(await send(by, named)).toMatchObject({ failure: null })
    expect(await send(by, named)).toMatchObject({ status: null, failure: 'timeout' })
    expect(requests()).toBe(3)
  })

  const withShell = process.platform === 'win32' ? test.skip : test
  withShell.each([
    ['an address', 'http://127.0.0.1:9/'],
    ['a name', 'http://receiver.example/'],
  ])('to %s of a process that can open nothing more is made again', async (_, url) => {
    const script = `
      import { openSync } from 'node:fs'
      import { createAddressGuard } from '${ROOT}/delivery/address-guard.ts'
      import { createSender } from '${ROOT}/delivery/sender.ts'
      const sender = createSender(createAddressGuard(['127.0.0.0/8']))
      const send = () => sender.send({
        organizationId: 'org_1', url: '${url}', method: 'POST', headers: {}, body: '', anySuccessStatus: false,
      }).then(({ failure }) => failure, ({ fault }) => fault)
      const before = await send()
      try { for (;;) openSync('/dev/null') } catch {}
      const exhausted = await send()
      process.stdout.write(before + ' ' + exhausted)
      process.exit()`
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      'ulimit -n 128 && exec "$0" "$@"',
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      '--input-type=module',
      '--eval',
      script,
    ])
    expect(stdout).toMatch(/^(connection-refused|dns) exhausted$/)
  })
})
