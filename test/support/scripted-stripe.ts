/**
 * Behaves as Stripe does, in memory: it replays responses, failures too, by idempotency key, and lists in pages.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Resource = Record<string, unknown> & { id: string }
type Form = Record<string, string>

export type Fault =
  /** It responds once `until` is fulfilled. */
  | {
      readonly before: { readonly status: number; readonly error: object }
      readonly until?: Promise<unknown>
    }
  /** Does its work, and then sends another response. */
  | { readonly after: { readonly status: number; readonly error: object } }
  /** Does its work, and responds only after so many milliseconds. */
  | { readonly silent: number }
  /** Does its work, and then closes the connection. */
  | { readonly closes: true }

export interface ScriptedStripe {
  readonly port: number
  /** Every intent that has moved money. */
  readonly charges: () => Resource[]
  readonly intents: () => Resource[]
  readonly refunds: () => Resource[]
  readonly requests: () => readonly string[]
  /** Makes the next request whose method and path match fail. */
  fail(request: RegExp, fault: Fault): void
  /** Adds a card that Stripe's own form made in the browser, and returns its id. */
  addPaymentMethod(pan: string): string
  /** Makes the expiry that it knows of all cards one of the past. */
  expireCards(): void
  /**
   * Responds to an intent's bank page as its customer; an intent that does not wait stays as it is. With a decline code
   * the customer approves, and then the bank declines.
   */
  answer(approvalUrl: string, approves: boolean, declineCode?: string): void
  /** Captures what an intent holds, or a part of it, as its owner does in the dashboard. */
  capture(id: unknown, amount?: number): Resource
  /** Refunds a part of an intent, as its owner does in the dashboard. */
  refund(intent: unknown, amount: number): Resource
  /** Adds intents of others to a customer, which stand before its own in a list. */
  addIntents(customer: string, count: number): void
  close(): Promise<void>
}

const DECLINES: Readonly<Record<string, string>> = {
  '4000000000000002': 'generic_decline',
  '4000000000009995': 'insufficient_funds',
  '4000000000009987': 'lost_card',
  '4000000000000069': 'expired_card',
  '4000000000009979': 'stolen_card',
  '4000002760003184': 'authentication_required',
}

/** Cards whose bank asks a present customer. */
const ASKING = ['4000002760003184', '4000003800000446']

interface Expiry {
  readonly exp_month: number
  readonly exp_year: number
}

const NEW: Expiry = { exp_month: 12, exp_year: 2090 }

const CANCELABLE = ['requires_payment_method', 'requires_action', 'requires_capture']

export async function startScriptedStripe(secretKey: string): Promise<ScriptedStripe> {
  const cards = new Map<string, string>()
  const expiries = new Map<string, Expiry>()
  const customers = new Set<string>()
  const intents: Resource[] = []
  const refunds: Resource[] = []
  const replies = new Map<string, { status: number; body: string; sent: string }>()
  const faults: { request: RegExp; fault: Fault }[] = []
  const requests: string[] = []

  const made = (prefix: string, members: object): Resource => ({
    id: `${prefix}_${randomUUID().replaceAll('-', '')}`,
    created: Math.floor(Date.now() / 1000),
    ...members,
  })
  const declined = (code: string, intent: Resource) => ({
    status: 402,
    body: {
      error: {
        type: 'card_error',
        code: codeOf(code),
        decline_code: code,
        message: 'Declined.',
        payment_intent: intent,
      },
    },
  })
  const ended = {
    status: 400,
    body: {
      error: {
        type: 'invalid_request_error',
        code: 'payment_intent_unexpected_state',
        message: 'It has ended, or its state does not permit that.',
      },
    },
  }
  const missing = (what: string) => ({
    status: 400,
    body: {
      error: { type: 'invalid_request_error', code: 'resource_missing', message: `No such ${what}` },
    },
  })

  const work = (method: string, path: string, form: Form, query: URLSearchParams) => {
    const ok = (body: unknown) => ({ status: 200, body })
    switch (`${method} ${path.replace(/\/(pm|pi|cus)_\w+/, '/*')}`) {
      case 'GET /v1/balance':
        return ok({ object: 'balance', available: [], pending: [] })
      case 'POST /v1/customers': {
        const customer = made('cus', { object: 'customer' })
        customers.add(customer.id)
        return ok(customer)
      }
      case 'POST /v1/payment_methods': {
        const method = made('pm', { object: 'payment_method' })
        cards.set(method.id, form['card[number]'] ?? '')
        expiries.set(method.id, expiryIn(form))
        return ok(method)
      }
      case 'GET /v1/payment_methods/*': {
        const id = path.split('/').at(-1) ?? ''
        const number = cards.get(id)
        if (number === undefined) return missing('payment_method')
        const card = {
          last4: number.slice(-4),
          brand: 'visa',
          ...(expiries.get(id) ?? NEW),
          fingerprint: `fp${number.slice(-4)}`,
        }
        return ok({ id, object: 'payment_method', customer: null, card })
      }
      case 'POST /v1/payment_methods/*': {
        const id = path.split('/').at(-1) ?? ''
        if (!cards.has(id)) return missing('payment_method')
        expiries.set(id, expiryIn(form))
        return ok({ id, object: 'payment_method' })
      }
      case 'POST /v1/payment_methods/*/attach':
        return cards.has(path.split('/').at(-2) ?? '')
          ? ok({ id: path.split('/').at(-2), object: 'payment_method', customer: form.customer })
          : missing('payment_method')
      case 'POST /v1/setup_intents':
        return ok(made('seti', { object: 'setup_intent', status: 'succeeded' }))
      case 'POST /v1/payment_intents': {
        if (!customers.has(form.customer ?? '')) return missing('customer')
        const number = cards.get(form.payment_method ?? '')
        if (number === undefined) return missing('payment_method')
        if (Number(form.amount) < 50) {
          const error = { type: 'invalid_request_error', code: 'amount_too_small', message: 'Too small.' }
          return { status: 400, body: { error } }
        }
        const isPresent = form.off_session !== 'true'
        const isHeld = form.capture_method === 'manual'
        if (isPresent && ASKING.includes(number)) {
          const id = `pi_${randomUUID().replaceAll('-', '')}`
          const url = `https://hooks.stripe.example.com/redirect/authenticate/${id}`
          const waiting = made('pi', {
            id,
            object: 'payment_intent',
            customer: form.customer,
            amount: Number(form.amount),
            currency: form.currency,
            metadata: metadataOf(form),
            capture_method: form.capture_method ?? 'automatic',
            status: 'requires_action',
            next_action: { type: 'redirect_to_url', redirect_to_url: { url, return_url: form.return_url } },
            last_payment_error: null,
          })
          intents.unshift(waiting)
          return ok(waiting)
        }
        const code = isPast(expiries.get(form.payment_method ?? '')) ? 'expired_card' : DECLINES[number]
        const intent = made('pi', {
          object: 'payment_intent',
          customer: form.customer,
          amount: Number(form.amount),
          currency: form.currency,
          metadata: metadataOf(form),
          status: code !== undefined ? 'requires_payment_method' : isHeld ? 'requires_capture' : 'succeeded',
          latest_charge: isHeld && code === undefined ? heldCharge() : null,
          last_payment_error: code === undefined ? null : { code: codeOf(code), decline_code: code },
        })
        intents.unshift(intent)
        return code === undefined ? ok(intent) : declined(code, intent)
      }
      case 'GET /v1/payment_intents/*': {
        const intent = intents.find(({ id }) => path.endsWith(`/${id}`))
        return intent === undefined ? missing('payment_intent') : ok(intent)
      }
      case 'POST /v1/payment_intents/*/cancel': {
        const intent = intents.find(({ id }) => path.endsWith(`/${id}/cancel`))
        if (intent === undefined) return missing('payment_intent')
        if (!CANCELABLE.includes(String(intent.status))) return ended
        Object.assign(intent, {
          status: 'canceled',
          cancellation_reason: form.cancellation_reason,
          next_action: null,
        })
        return ok(intent)
      }
      case 'POST /v1/payment_intents/*/capture': {
        const intent = intents.find(({ id }) => path.endsWith(`/${id}/capture`))
        if (intent === undefined) return missing('payment_intent')
        const amount = Number(form.amount_to_capture ?? intent.amount)
        if (intent.status !== 'requires_capture') return ended
        if (amount > Number(intent.amount)) {
          const error = { type: 'invalid_request_error', code: 'amount_too_large', message: 'Too much.' }
          return { status: 400, body: { error } }
        }
        const metadata = { ...(intent.metadata as object), ...metadataOf(form) }
        return ok(Object.assign(captured(intent, amount), { metadata }))
      }
      case 'GET /v1/payment_intents': {
        const since = Number(query.get('created[gte]') ?? 0)
        return ok(
          page(
            intents.filter((one) => one.customer === query.get('customer') && Number(one.created) >= since),
            query,
          ),
        )
      }
      case 'POST /v1/refunds': {
        const intent = intents.find(({ id }) => id === form.payment_intent)
        if (intent === undefined) return missing('payment_intent')
        const before = refunds.filter((one) => one.payment_intent === intent.id)
        const refunded = before.reduce((sum, one) => sum + Number(one.amount), 0)
        if (refunded + Number(form.amount) > Number(intent.amount_received ?? intent.amount)) {
          const error = {
            type: 'invalid_request_error',
            code: 'charge_already_refunded',
            message: 'Too much.',
          }
          return { status: 400, body: { error } }
        }
        const refund = made('re', {
          object: 'refund',
          payment_intent: intent.id,
          amount: Number(form.amount),
          metadata: metadataOf(form),
          status: 'succeeded',
        })
        refunds.unshift(refund)
        return ok(refund)
      }
      case 'GET /v1/refunds':
        return ok(
          page(
            refunds.filter((one) => one.payment_intent === query.get('payment_intent')),
            query,
          ),
        )
      default:
        return {
          status: 404,
          body: { error: { type: 'invalid_request_error', message: `No ${method} ${path}` } },
        }
    }
  }

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = request
    const { pathname, searchParams } = new URL(url, 'http://provider')
    const sent = await textOf(request)
    const form = Object.fromEntries(new URLSearchParams(sent))
    requests.push(`${method} ${pathname}`)
    const send = (status: number, body: string): void => {
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(body)
    }
    if (headers.authorization !== `Bearer ${secretKey}`) {
      return send(
        401,
        JSON.stringify({ error: { type: 'invalid_request_error', message: 'Invalid API Key' } }),
      )
    }
    const at = faults.findIndex((one) => one.request.test(`${method} ${pathname}`))
    const fault = at < 0 ? null : (faults.splice(at, 1)[0]?.fault ?? null)
    if (fault !== null && 'before' in fault) {
      await fault.until
      return send(fault.before.status, JSON.stringify({ error: fault.before.error }))
    }
    const key = method === 'POST' ? String(headers['idempotency-key']) : ''
    let reply = replies.get(key)
    if (reply !== undefined && reply.sent !== sent) {
      const message = 'Keys for idempotent requests can only be used with the same parameters.'
      return send(400, JSON.stringify({ error: { type: 'idempotency_error', message } }))
    }
    if (reply === undefined) {
      const { status, body } = work(method, pathname, form, searchParams)
      reply = { status, body: JSON.stringify(body), sent }
      if (fault !== null && 'after' in fault) {
        reply = { status: fault.after.status, body: JSON.stringify({ error: fault.after.error }), sent }
      }
      if (key !== '') replies.set(key, reply)
    }
    if (fault !== null && 'closes' in fault) return void request.socket.destroy()
    if (fault !== null && 'silent' in fault) await new Promise((resolve) => setTimeout(resolve, fault.silent))
    if (!response.destroyed) send(reply.status, reply.body)
  }

  const server = createServer((request, response) => void respond(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    charges: () => intents.filter(({ status }) => status === 'succeeded'),
    intents: () => intents,
    refunds: () => refunds,
    requests: () => requests,
    addPaymentMethod(pan) {
      const { id } = made('pm', {})
      cards.set(id, pan)
      return id
    },
    expireCards() {
      for (const id of cards.keys()) expiries.set(id, { exp_month: 1, exp_year: 2020 })
    },
    answer(approvalUrl, approves, declineCode) {
      const intent = intents.find(({ id }) => approvalUrl.endsWith(`/${id}`))
      if (intent?.status !== 'requires_action') return
      const code = 'payment_intent_authentication_failure'
      Object.assign(intent, {
        status:
          !approves || declineCode !== undefined
            ? 'requires_payment_method'
            : intent.capture_method === 'manual'
              ? 'requires_capture'
              : 'succeeded',
        last_payment_error:
          declineCode !== undefined
            ? { code: codeOf(declineCode), decline_code: declineCode }
            : approves
              ? null
              : { code },
        next_action: null,
      })
    },
    capture(id, amount) {
      const intent = intents.find((one) => one.id === id)
      if (intent?.status !== 'requires_capture') throw new Error(`the intent ${id} holds no money`)
      return captured(intent, amount ?? Number(intent.amount))
    },
    refund(payment_intent, amount) {
      const members = { object: 'refund', payment_intent, amount, metadata: {}, status: 'succeeded' }
      const refund = made('re', members)
      refunds.unshift(refund)
      return refund
    },
    fail: (request, fault) => void faults.push({ request, fault }),
    addIntents(customer, count) {
      for (let added = 0; added < count; added += 1) {
        intents.unshift(
          made('pi', { customer, amount: 100, metadata: {}, status: 'canceled', currency: 'eur' }),
        )
      }
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** What is not captured is released, without a refund. */
function captured(intent: Resource, amount: number): Resource {
  return Object.assign(intent, { status: 'succeeded', amount_received: amount, amount_capturable: 0 })
}

/** The charge of an intent that holds money, and when Stripe lets it go. */
function heldCharge() {
  const captureBefore = Math.floor(Date.now() / 1000) + 7 * 86_400
  return {
    object: 'charge',
    payment_method_details: { type: 'card', card: { capture_before: captureBefore } },
  }
}

function expiryIn(form: Form): Expiry {
  return { exp_month: Number(form['card[exp_month]']), exp_year: Number(form['card[exp_year]']) }
}

function isPast({ exp_month: month, exp_year: year }: Expiry = NEW): boolean {
  return Date.UTC(year, month) <= Date.now()
}

function codeOf(declineCode: string): string {
  return ['authentication_required', 'expired_card'].includes(declineCode) ? declineCode : 'card_declined'
}

function metadataOf(form: Form): Record<string, string> {
  return Object.fromEntries(
    Object.entries(form).flatMap(([name, value]) => {
      const [, member] = /^metadata\[(\w+)\]$/.exec(name) ?? []
      return member === undefined ? [] : [[member, value]]
    }),
  )
}

function page(all: readonly Resource[], query: URLSearchParams) {
  const after = query.get('starting_after')
  const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1
  const data = all.slice(from, from + Number(query.get('limit') ?? 10))
  return { object: 'list', data, has_more: from + data.length < all.length }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
