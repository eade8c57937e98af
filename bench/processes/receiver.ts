/** It responds with 200, or 500 at `/fail`; `hanging` receivers never respond. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serveCalls } from '../helper.ts'

export type ReceiverCalls = {
  listen(none: null): Promise<string>
  hanging(count: number): Promise<string[]>
  reset(none: null): Promise<void>
  /** Returns when each event first arrived since the last reset, by its id, in milliseconds since the epoch. */
  arrivals(none: null): Promise<Map<string, number>>
  /** Resolves when `count` events have arrived since the last reset. */
  until(count: number): Promise<void>
}

let came = 0
const arrivals = new Map<string, number>()
let wanted = Number.POSITIVE_INFINITY
let reached: () => void = () => {}

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    const at = performance.timeOrigin + performance.now()
    const id = String(request.headers['webhook-id'])
    if (!arrivals.has(id)) arrivals.set(id, at)
    response.writeHead(request.url === '/fail' ? 500 : 200).end()
    if (request.headers['security-signature'] !== undefined) came += 1
    if (came >= wanted) reached()
  })
})

async function listening(one: Server): Promise<string> {
  await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(one.address() as AddressInfo).port}/hooks`
}

serveCalls({
  listen: () => listening(server),
  hanging: (count: number) =>
    Promise.all(
      Array.from({ length: count }, () => listening(createServer((request) => void request.resume()))),
    ),
  async reset() {
    came = 0
    arrivals.clear()
    wanted = Number.POSITIVE_INFINITY
  },
  async arrivals() {
    return arrivals
  },
  async until(count: number) {
    await new Promise<void>((resolve) => {
      wanted = count
      reached = resolve
      if (came >= wanted) resolve()
    })
  },
})
