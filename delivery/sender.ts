/** Sends one webhook request and says what came of it. Never throws for what a receiver does. */
import { isIP, type Socket } from 'node:net'
import { Agent, buildConnector, type Dispatcher, request } from 'undici'
import { type AddressGuard, AddressRefusedError } from './address-guard.ts'

/** All of an attempt, from looking up the name to the last byte of the answer (specification 6.1). */
export const ATTEMPT_TIMEOUT = 20_000
/** An answer is read to its end, and its end must come before this. */
const LARGEST_ANSWER = 1024 * 1024
/** What of it the log keeps. */
const LOGGED_ANSWER = 16 * 1024

/** Why an attempt failed, in one word. */
export type FailureReason =
  | 'status'
  | 'redirect'
  | 'timeout'
  | 'dns'
  | 'address-refused'
  | 'connection-refused'
  | 'connection-reset'
  | 'connection-failed'
  | 'tls'
  | 'response-too-large'
  | 'protocol'

export interface WebhookRequest {
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Any 2xx is success, not 200 alone. */
  readonly anySuccessStatus: boolean
}

export interface WebhookAnswer {
  /** null: no answer came. */
  readonly status: number | null
  readonly headers: Readonly<Record<string, string>> | null
  /** At most 16 KiB of it. */
  readonly body: string | null
  /** null: the receiver took the event. */
  readonly failure: FailureReason | null
}

export interface Sender {
  send(request: WebhookRequest): Promise<WebhookAnswer>
  close(): Promise<void>
}

/** A sender whose every connection passes `guard`; keeps connections alive between attempts. */
export function createSender(guard: AddressGuard, options: { timeout?: number } = {}): Sender {
  const timeout = options.timeout ?? ATTEMPT_TIMEOUT
  const connect = buildConnector({ lookup: guard.lookup, timeout, autoSelectFamily: true })
  const agent = new Agent({
    connections: 128,
    pipelining: 1,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
    // The timeout of an attempt is one for all of it; the client's own would only blur its reason.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(target, callback) {
      const literal = target.hostname.replace(/^\[|\]$/g, '')
      if (isIP(literal) !== 0 && !guard.allows(literal)) {
        callback(new AddressRefusedError(`${literal} is not a public address`), null)
        return
      }
      connect(target, (error, socket) => {
        if (error !== null) return callback(error, null)
        if (!guard.allows((socket as Socket).remoteAddress ?? '')) {
          socket.destroy()
          return callback(new AddressRefusedError('connected to an address that is not public'), null)
        }
        callback(null, socket)
      })
    },
  })
  return {
    async send({ url, method, headers, body, anySuccessStatus }) {
      const signal = AbortSignal.timeout(timeout)
      const read: Reading = { status: null, headers: null, size: 0, kept: [] }
      let failure: FailureReason | null
      try {
        await readAnswer(await request(url, { dispatcher: agent, method, headers, body, signal }), read)
        failure = verdict(read, anySuccessStatus)
      } catch (error) {
        failure = signal.aborted ? 'timeout' : reasonOf(error)
      }
      return {
        status: read.status,
        headers: read.headers,
        body: read.status === null ? null : Buffer.concat(read.kept).toString('utf8'),
        failure,
      }
    },
    close: () => agent.destroy(),
  }
}

/** What of an answer has come so far: kept also when the rest never does. */
interface Reading {
  status: number | null
  headers: Readonly<Record<string, string>> | null
  size: number
  readonly kept: Buffer[]
}

async function readAnswer(answer: Dispatcher.ResponseData, read: Reading): Promise<void> {
  read.status = answer.statusCode
  read.headers = flatten(answer.headers)
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    if (read.size < LOGGED_ANSWER) read.kept.push(chunk.subarray(0, LOGGED_ANSWER - read.size))
    read.size += chunk.length
    if (read.size > LARGEST_ANSWER) return
  }
}

function verdict({ status, size }: Reading, anySuccessStatus: boolean): FailureReason | null {
  if (size > LARGEST_ANSWER) return 'response-too-large'
  if (status === null) return 'protocol'
  if (status === 200 || (anySuccessStatus && status >= 200 && status < 300)) return null
  return status >= 300 && status < 400 ? 'redirect' : 'status'
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
    const code = String(('code' in cause ? cause.code : null) ?? cause.name)
    const reason = REASONS.find(([pattern]) => pattern.test(code))
    if (reason !== undefined) return reason[1]
  }
  return 'connection-failed'
}

/** Codes of the resolver, the socket, TLS and the HTTP client, each by the word that a merchant reads. */
const REASONS: readonly (readonly [RegExp, FailureReason])[] = [
  [/^ADDRESS_REFUSED$/, 'address-refused'],
  [/^(ENOTFOUND|ENODATA|EAI_\w+)$/, 'dns'],
  [/^ECONNREFUSED$/, 'connection-refused'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'connection-reset'],
  [/^(EPROTO$|ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|\w*SELF_SIGNED|HOSTNAME_MISMATCH$)/, 'tls'],
  [/^UND_ERR_HEADERS_OVERFLOW$/, 'response-too-large'],
  [/^(HPE_|HTTPParserError$|UND_ERR_INVALID_ARG$|UND_ERR_RES_CONTENT_LENGTH_MISMATCH$)/, 'protocol'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'timeout'],
]

/** The error, the errors it wraps and those it was caused by. */
function* causes(error: unknown): Generator<Error> {
  if (!Error.isError(error)) return
  yield error
  if (error instanceof AggregateError) for (const inner of error.errors) yield* causes(inner)
  yield* causes(error.cause)
}
