/** A provider that takes its time: it approves every charge, so many milliseconds after it was asked. */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { serveCalls } from '../helper.ts'

export type StripeServerCalls = {
  /** Returns its port. */
  listen(none: null): Promise<number>
  takes(milliseconds: number): Promise<void>
  /** Returns the number of charges since it was last asked. */
  charges(none: null): Promise<number>
}

let latency = 0
let charges = 0

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  await delay(latency)
  const { pathname } = new URL(request.url ?? '', 'http://provider')
  const resource = respond(pathname, new URLSearchParams(body))
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(resource))
})

function respond(path: string, form: URLSearchParams): object {
  const id = randomUUID().replaceAll('-', '')
  if (path === '/v1/customers') return { id: `cus_${id}`, object: 'customer' }
  if (path === '/v1/payment_methods') return { id: `pm_${id}`, object: 'payment_method' }
  if (path === '/v1/setup_intents') return { id: `seti_${id}`, object: 'setup_intent', status: 'succeeded' }
  charges += 1
  const amount = Number(form.get('amount'))
  const currency = form.get('currency')
  return { id: `pi_${id}`, object: 'payment_intent', status: 'succeeded', amount, currency, metadata: {} }
}

serveCalls({
  async listen() {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  },
  async takes(milliseconds: number) {
    latency = milliseconds
  },
  async charges() {
    const made = charges
    charges = 0
    return made
  },
})
