/** Sends one webhook request and says what came of it. Never throws for what a receiver does. */
import { isIP, type Socket } from 'node:net'
import { Agent, buildConnector, request } from 'undici'
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
  const connect = buildConnector({ lookup: guard.lookup, timeout: ATTEMPT_TIMEOUT, autoSelectFamily: true })
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
      const signal = AbortSignal.timeout(options.timeout ?? ATTEMPT_TIMEOUT)
      try {
        const answer = await request(url, { dispatcher: agent, method, headers, body, signal })
        const read = await readAnswer(answer.body)
        const status = answer.statusCode
        const accepted = status === 200 || (anySuccessStatus && status >= 200 && status < 300)
        return {
          status,
          headers: flatten(answer.headers),
          body: read.text,
          failure: read.tooLarge
            ? 'response-too-large'
            : accepted
              ? null
              : status >= 300 && status < 400
                ? 'redirect'
                : 'status',
        }
      } catch (error) {
        return {
          status: null,
          headers: null,
          body: null,
          failure: signal.aborted ? 'timeout' : reasonOf(error),
        }
      }
    },
    close: () => agent.destroy(),
  }
}

async function readAnswer(body: AsyncIterable<Buffer>): Promise<{ text: string; tooLarge: boolean }> {
  const kept: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    if (size < LOGGED_ANSWER) kept.push(chunk.subarray(0, LOGGED_ANSWER - size))
    size += chunk.length
    if (size > LARGEST_ANSWER) return { text: Buffer.concat(kept).toString('utf8'), tooLarge: true }
  }
  return { text: Buffer.concat(kept).toString('utf8'), tooLarge: false }
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
    const code = 'code' in cause ? String(cause.code) : ''
    if (code === 'ADDRESS_REFUSED') return 'address-refused'
    if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EAI_FAIL' || code === 'ENODATA')
      return 'dns'
    if (code === 'ECONNREFUSED') return 'connection-refused'
    if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET') return 'connection-reset'
    if (
      code.startsWith('ERR_TLS') ||
      code.startsWith('ERR_SSL') ||
      code.startsWith('CERT_') ||
      code.includes('SELF_SIGNED') ||
      code.startsWith('UNABLE_TO') ||
      code === 'DEPTH_ZERO_SELF_SIGNED_CERT'
    )
      return 'tls'
    if (code.startsWith('HPE_') || code === 'UND_ERR_INVALID_ARG') return 'protocol'
    if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return 'timeout'
  }
  return 'connection-failed'
}

/** The error, the errors it wraps and those it was caused by. */
function* causes(error: unknown): Generator<Error> {
  if (!Error.isError(error)) return
  yield error
  if (error instanceof AggregateError) for (const inner of error.errors) yield* causes(inner)
  yield* causes(error.cause)
}
