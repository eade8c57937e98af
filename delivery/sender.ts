import { AsyncLocalStorage } from 'node:async_hooks'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { Agent, buildConnector, type Dispatcher, errors, request } from 'undici'
import { type AddressGuard, AddressRefusedError } from './address-guard.ts'
import { createNames, LOOKUP_TIMEOUT, type NamesOptions } from './names.ts'
import { isExhaustion, OwnFaultError } from './own-fault.ts'
import { type Deadline, type StandstillWatch, startDeadline, watchStandstill } from './standstill.ts'
import { LARGEST_RESPONSE, responseFailure } from './success-rule.ts'
import { portOf } from './webhook-url.ts'

/** Milliseconds in which this process runs, from the connection to the last byte, without the name's look-up. */
export const ATTEMPT_TIMEOUT = 20_000
/** A kept connection that the receiver has closed is reset by the first packet. A later reset is of the request. */
const STALE_WITHIN = 1_000
const LOGGED_RESPONSE = 16 * 1024

export const FAILURE_REASONS = [
  'status',
  'redirect',
  'timeout',
  'dns',
  'address-refused',
  'connection-refused',
  'connection-reset',
  'connection-failed',
  'tls',
  'response-too-large',
  'protocol',
] as const
export type FailureReason = (typeof FAILURE_REASONS)[number]

export interface WebhookRequest {
  readonly organizationId: string
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly anySuccessStatus: boolean
}

export interface ReceiverResponse {
  readonly status: number | null
  readonly headers: Readonly<Record<string, string>> | null
  readonly body: string | null
  /** Null if the receiver accepted the event. */
  readonly failure: FailureReason | null
}

export interface Sender {
  /** No receiver makes it throw. @throws OwnFaultError if the attempt does not count and must be repeated. */
  send(request: WebhookRequest): Promise<ReceiverResponse>
  close(): Promise<void>
}

export interface SenderOptions {
  readonly timeout?: number
  readonly names?: NamesOptions
  /** A client certificate and the authorities to trust. With it, no connection is used twice. */
  readonly tls?: Pick<SecureContextOptions, 'cert' | 'key' | 'ca'>
  /** A response that does not end within this many bytes fails. */
  readonly largestResponse?: number
  readonly returnedResponse?: number
}

interface Sending {
  readonly organizationId: string
  readonly port: number
  readonly deadline: Deadline
  hasConnected: boolean
}

/** Creates a sender whose every connection passes `guard`. Connections are reused between attempts. */
export function createSender(guard: AddressGuard, options: SenderOptions = {}): Sender {
  const timeout = options.timeout ?? ATTEMPT_TIMEOUT
  const standstill = watchStandstill()
  const sending = new AsyncLocalStorage<Sending>()
  const connect = guardedConnector(guard, timeout, sending, options)
  const limits = {
    largest: options.largestResponse ?? LARGEST_RESPONSE,
    returned: options.returnedResponse ?? LOGGED_RESPONSE,
  }
  // One timeout covers the whole attempt; the client's own would hide the reason. No attempt waits for another: the
  // number of connections is not limited here, and HTTP/2 is off, of which a first connection would decide for all.
  const common = { connect, allowH2: false, headersTimeout: 0, bodyTimeout: 0 }
  const reusing = new Agent({
    ...common,
    pipelining: 1,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
  })
  const fresh = new Agent({ ...common, pipelining: 0 })

  const sendBy = async (agent: Agent, webhook: WebhookRequest, attempt: Sending): Promise<Sent> => {
    const { url, method, headers, body, anySuccessStatus } = webhook
    const { signal } = attempt.deadline
    const read: Reading = { status: null, headers: null, size: 0, chunks: [] }
    try {
      await sending.run(attempt, async () =>
        readResponse(await request(url, { dispatcher: agent, method, headers, body, signal }), read, limits),
      )
      return { read, failure: responseFailure(read, anySuccessStatus, limits.largest), error: null }
    } catch (error) {
      return { read, failure: signal.aborted ? 'timeout' : reasonOf(error), error }
    }
  }

  return {
    async send(webhook) {
      const begun = performance.now()
      const deadline = startDeadline(timeout, standstill)
      const { organizationId, url } = webhook
      const attempt: Sending = { organizationId, port: portOf(new URL(url)), deadline, hasConnected: false }
      try {
        let sent = await sendBy(options.tls === undefined ? reusing : fresh, webhook, attempt)
        const isEarly = performance.now() - begun < STALE_WITHIN
        // The receiver closed an idle connection as the request went out, so the request is sent once more.
        if (
          sent.failure === 'connection-reset' &&
          sent.read.status === null &&
          !attempt.hasConnected &&
          isEarly
        ) {
          sent = await sendBy(fresh, webhook, attempt)
        }
        requireTheirs(sent, deadline, standstill, begun)
        const { read, failure } = sent
        return {
          status: read.status,
          headers: read.headers,
          body: read.status === null ? null : Buffer.concat(read.chunks).toString('utf8'),
          failure,
        }
      } finally {
        deadline.end()
      }
    },
    async close() {
      standstill.close()
      await Promise.all([reusing.destroy(), fresh.destroy()])
    },
  }
}

/** Connects to allowed addresses only. The look-up of the name does not count toward the time limit. */
function guardedConnector(
  guard: AddressGuard,
  timeout: number,
  sending: AsyncLocalStorage<Sending>,
  { names: options, tls }: SenderOptions,
): buildConnector.connector {
  const names = createNames(options)
  const resolve = async (hostname: string) => {
    const attempt = sending.getStore()
    attempt?.deadline.hold()
    try {
      return guard.allowed(hostname, attempt?.port ?? 0, await names(hostname, attempt?.organizationId ?? ''))
    } finally {
      attempt?.deadline.resume()
    }
  }
  const lookup: LookupFunction = (hostname, { all }, callback) =>
    void resolve(hostname).then(
      (allowed) =>
        all === true ? callback(null, allowed) : callback(null, allowed[0].address, allowed[0].family),
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    )
  const connect = buildConnector({
    lookup,
    timeout: timeout + LOOKUP_TIMEOUT,
    autoSelectFamily: true,
    ...tls,
    // Its resets and going away are not told from failures of the receiver here.
    allowH2: false,
  })
  return (target, callback) => {
    const attempt = sending.getStore()
    if (attempt !== undefined) attempt.hasConnected = true
    const literal = target.hostname.replace(/^\[|\]$/g, '')
    if (isIP(literal) !== 0 && !guard.allows(literal, portOf(target))) {
      callback(new AddressRefusedError(`${literal} is not a public address`), null)
      return
    }
    connect(target, (error, socket) => {
      if (error !== null) return callback(error, null)
      if (!guard.allows((socket as Socket).remoteAddress ?? '', portOf(target))) {
        socket.destroy()
        return callback(new AddressRefusedError('connected to an address that is not public'), null)
      }
      callback(null, socket)
    })
  }
}

interface Sent {
  readonly read: Reading
  readonly failure: FailureReason | null
  readonly error: unknown
}

/** Failures that a receiver or the network has when our process is silent for long. */
const OF_SILENCE: readonly (FailureReason | null)[] = [
  'timeout',
  'dns',
  'connection-reset',
  'connection-failed',
  'tls',
]

function requireTheirs(
  { failure, error }: Sent,
  deadline: Deadline,
  standstill: StandstillWatch,
  begun: number,
): void {
  if (failure === null) return
  for (const cause of causes(error)) {
    if (cause instanceof OwnFaultError) throw cause
    if (isExhaustion(cause)) throw new OwnFaultError('exhausted', { cause: error })
  }
  // The deadline counts only while we run: once it has passed, the receiver has had its time.
  if (!deadline.signal.aborted && OF_SILENCE.includes(failure) && standstill.since(begun) > 0) {
    throw new OwnFaultError('stood-still', { cause: error })
  }
}

/** The part of a response read so far, kept even if the rest never arrives. */
interface Reading {
  status: number | null
  headers: Readonly<Record<string, string>> | null
  size: number
  readonly chunks: Buffer[]
}

interface ResponseLimits {
  readonly largest: number
  readonly returned: number
}

async function readResponse(
  response: Dispatcher.ResponseData,
  read: Reading,
  { largest, returned }: ResponseLimits,
): Promise<void> {
  read.status = response.statusCode
  read.headers = flatten(response.headers)
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    if (read.size < returned) read.chunks.push(chunk.subarray(0, returned - read.size))
    read.size += chunk.length
    if (read.size > largest) return
  }
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  )
}

function reasonOf(error: unknown): FailureReason {
  for (const cause of causes(error)) {
    if (isBadResponse(cause)) return 'protocol'
    const code = String(('code' in cause ? cause.code : null) ?? cause.name)
    const reason = REASONS.find(([pattern]) => pattern.test(code))
    if (reason !== undefined) return reason[1]
  }
  return 'connection-failed'
}

const REASONS: readonly (readonly [RegExp, FailureReason])[] = [
  [/^ADDRESS_REFUSED$/, 'address-refused'],
  [/^NAME_NOT_RESOLVED$/, 'dns'],
  [/^ECONNREFUSED$/, 'connection-refused'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'connection-reset'],
  [/^(EPROTO$|ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|\w*SELF_SIGNED|HOSTNAME_MISMATCH$)/, 'tls'],
  [/^UND_ERR_HEADERS_OVERFLOW$/, 'response-too-large'],
  [/^(HPE_|HTTPParserError$|UND_ERR_INVALID_ARG$|UND_ERR_RES_CONTENT_LENGTH_MISMATCH$)/, 'protocol'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'timeout'],
]

/** The client breaks off at a 100 or 101 that it did not ask for, under the code of a reset and after the receiver has the request. */
function isBadResponse(cause: Error): boolean {
  return cause instanceof errors.SocketError && /^bad (response|upgrade)$/.test(cause.message)
}

function* causes(error: unknown): Generator<Error> {
  if (!Error.isError(error)) return
  yield error
  if (error instanceof AggregateError) for (const inner of error.errors) yield* causes(inner)
  yield* causes(error.cause)
}
