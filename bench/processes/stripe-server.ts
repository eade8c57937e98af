/**
 * A provider that takes its time: it approves every charge so many milliseconds after it was asked, once under an
 * idempotency key, and refuses (429) what exceeds its rate.
 */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { serveCalls } from '../helper.ts'

export type StripeServerCalls = {
  /** Returns its port. */
  listen(none: null): Promise<number>
  takes(milliseconds: number): Promise<void>
  /** Requests per second; null: any number. */
  limit(rate: number | null): Promise<void>
  /** Returns the number of charges since it was last asked. */
  charges(none: null): Promise<number>
  /** Returns the number of refused requests since it was last asked. */
  refused(none: null): Promise<number>
}

const LISTED = 100

type Intent = Readonly<Record<string, unknown>> & { readonly id: string; readonly created: number }

let latency = 0
let charges = 0
let refused = 0
let rate: number | null = null
/** Requests that are free now, up to a second's. */
let free = 0
let filledAt = 0
const intentsOf = new Map<string, Intent[]>()
const intentOf = new Map<string, Intent>()

const server = createServer(async (request, response) => {
  const respond = (status: number, resource: object): void =>
    void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(resource))
  let body = ''
  for await (const chunk of request) body += String(chunk)
  if (!isWithinRate()) {
    refused += 1
    return respond(429, { error: { type: 'invalid_request_error', code: 'rate_limit', message: 'Later.' } })
  }
  await delay(latency)
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://provider')
  if (request.method === 'GET') return respond(200, pathname === '/v1/balance' ? {} : listed(searchParams))
  respond(200, made(pathname, new URLSearchParams(body), String(request.headers['idempotency-key'])))
})

function isWithinRate(): boolean {
  if (rate === null) return true
  const now = performance.now()
  free = Math.min(rate, free + ((now - filledAt) * rate) / 1_000)
  filledAt = now
  if (free < 1) return false
  free -= 1
  return true
}

function made(path: string, form: URLSearchParams, key: string): object {
  const id = randomUUID().replaceAll('-', '')
  if (path === '/v1/customers') return { id: `cus_${id}`, object: 'customer' }
  if (path === '/v1/payment_methods') return { id: `pm_${id}`, object: 'payment_method' }
  if (path === '/v1/setup_intents') return { id: `seti_${id}`, object: 'setup_intent', status: 'succeeded' }
  const known = intentOf.get(key)
  if (known !== undefined) return known
  charges += 1
  const intent = {
    id: `pi_${id}`,
    object: 'payment_intent',
    status: 'succeeded',
    created: Math.floor(Date.now() / 1_000),
    amount: Number(form.get('amount')),
    currency: form.get('currency'),
    metadata: {
      organizationId: form.get('metadata[organizationId]') ?? '',
      requestId: form.get('metadata[requestId]') ?? '',
    },
  }
  intentOf.set(key, intent)
  const customer = form.get('customer') ?? ''
  const others = intentsOf.get(customer)
  if (others === undefined) intentsOf.set(customer, [intent])
  else others.push(intent)
  return intent
}

/** A customer's charges, newest first. */
function listed(query: URLSearchParams): object {
  const since = Number(query.get('created[gte]') ?? 0)
  const all = (intentsOf.get(query.get('customer') ?? '') ?? [])
    .filter(({ created }) => created >= since)
    .toReversed()
  const after = query.get('starting_after')
  const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1
  return { object: 'list', data: all.slice(from, from + LISTED), has_more: all.length > from + LISTED }
}

serveCalls({
  async listen() {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  },
  async takes(milliseconds: number) {
    latency = milliseconds
  },
  async limit(perSecond: number | null) {
    rate = perSecond
    free = perSecond ?? 0
    filledAt = performance.now()
  },
  async charges() {
    const made = charges
    charges = 0
    return made
  },
  async refused() {
    const turnedAway = refused
    refused = 0
    return turnedAway
  },
})
