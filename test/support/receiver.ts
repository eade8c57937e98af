import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closed, opened } from './open-things.ts'
import { waitFor } from './wait-for.ts'

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly event: ReceivedEvent
  /** Milliseconds since the epoch. */
  readonly at: number
}

export interface ReceivedEvent {
  readonly eventType: string
  readonly eventId: string
  readonly eventTime: string
  readonly subscriptionId?: string
  readonly _embedded: Record<string, Record<string, unknown>>
  readonly [member: string]: unknown
}

/** The default is 200. */
export type Behaviour = (received: Received, response: ServerResponse) => void | Promise<void>

export interface Receiver {
  readonly url: string
  readonly received: readonly Received[]
  respondWith(behaviour: number | Behaviour): void
  /** Waits until `count` matching requests have come, and returns all that match. */
  until(fits: (received: Received) => boolean, count?: number): Promise<Received[]>
  close(): Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  let behaviour: Behaviour = (_, response) => void response.writeHead(200).end()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const one: Received = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body,
      event: JSON.parse(body.toString('utf8') || '{}'),
      at: Date.now(),
    }
    received.push(one)
    await behaviour(one, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    received,
    respondWith(next) {
      behaviour = typeof next === 'number' ? (_, response) => void response.writeHead(next).end() : next
    },
    until: (fits, count = 1) =>
      waitFor(`${count} fitting webhooks`, () => {
        const fitting = received.filter(fits)
        return fitting.length >= count ? fitting : null
      }),
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
      closed(receiver)
    },
  }
  return opened(receiver, 'receiver')
}
