/**
 * The problem catalogue (RFC 9457): the only place where an error becomes a body.
 *
 * `PROBLEMS` is what `/problems/{slug}` explains and what the OpenAPI document lists.
 */
import { withoutCardNumbers } from '../../billing/cards.ts'
import { ConflictError, type InvalidField, InvalidFieldsError } from '../../billing/errors.ts'
import { isOutdatedStatement } from '../../db/driver.ts'
import { OwnFaultError } from '../../delivery/own-fault.ts'
import { GatewayFailedError, NoGatewayError } from '../../gateways/port.ts'

interface ProblemType {
  readonly status: number
  readonly title: string
  /** What it means and how to mend it: the text of its page. */
  readonly meaning: string
}

export const PROBLEMS = {
  'malformed-request': {
    status: 400,
    title: 'The request could not be read',
    meaning:
      'The body is not JSON, or a query parameter is unknown, of the wrong type or out of range. `invalidFields` names the parameters. Mend the request; sending it again unchanged gives the same answer.',
  },
  unauthorized: {
    status: 401,
    title: 'No valid credential',
    meaning:
      'The credential is missing, unknown, expired or of the other environment, or two were sent at once. Send one key of this environment: a secret key goes into the `SVC-APIKEY` header.',
  },
  forbidden: {
    status: 403,
    title: 'Not allowed with this credential',
    meaning:
      'The credential is known, but it may not do this: the operation is not in its access list, wants another form of credential, the address is not allowed, or the organization is another one.',
  },
  'not-found': {
    status: 404,
    title: 'Nothing is here',
    meaning: 'There is no such path, or no such id in this organization. Check the spelling of both.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'The path does not take this method',
    meaning: 'The `Allow` header lists the methods it takes.',
  },
  conflict: {
    status: 409,
    title: 'The state of the resource forbids this',
    meaning:
      'Read the resource again: its state, or a member that cannot change, does not permit what was asked.',
  },
  'precondition-failed': {
    status: 412,
    title: 'The resource is not as expected',
    meaning:
      '`If-Match` or `If-None-Match` does not hold. Read the resource, decide again, and send its new `ETag`.',
  },
  'payload-too-large': {
    status: 413,
    title: 'The body is too large',
    meaning: 'A request body has at most 1 MiB.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'The body is not JSON',
    meaning: 'Send `Content-Type: application/json` (or a type that ends in `+json`).',
  },
  'validation-error': {
    status: 422,
    title: 'The body breaks a rule',
    meaning:
      '`invalidFields` lists every failing member, with a dotted path such as `items.0.plan.id`, and what is wrong with it. Nothing was written.',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'The idempotency key belongs to another request',
    meaning: 'The `Idempotency-Key` was used with a different body. Take a new key for a new request.',
  },
  'rate-limit-exceeded': {
    status: 429,
    title: 'Too many requests',
    meaning: 'Wait until the time in `X-RateLimit-Retry-After` (Unix seconds). Nothing was changed.',
  },
  'internal-error': {
    status: 500,
    title: 'Something went wrong on our side',
    meaning: 'The request may be sent again. If it keeps failing, report the `Request-Id`.',
  },
  'not-implemented': {
    status: 501,
    title: 'The connected Temporal server lacks this',
    meaning: 'The detail names what the operator of this deployment has to enable.',
  },
  'upstream-failed': {
    status: 502,
    title: 'A provider failed',
    meaning: 'The provider that the operation needs did not answer as it should. Try again later.',
  },
  unavailable: {
    status: 503,
    title: 'Not available right now',
    meaning:
      'A part that the operation needs cannot be reached. Send the request again after `Retry-After` seconds.',
  },
  'not-configured': {
    status: 503,
    title: 'Not set up in this deployment',
    meaning: 'The detail names the settings that the operator of this deployment has to make.',
  },
} as const satisfies Record<string, ProblemType>

export type ProblemCode = keyof typeof PROBLEMS

export interface ProblemExtras {
  readonly invalidFields?: readonly InvalidField[]
  readonly headers?: Readonly<Record<string, string>>
}

/** An answer that is an error. The detail is public: it says what to change and holds nothing internal. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly code: ProblemCode
  readonly extras: ProblemExtras

  constructor(code: ProblemCode, detail: string, extras: ProblemExtras = {}, options?: ErrorOptions) {
    super(detail, options)
    this.code = code
    this.extras = extras
  }

  get status(): number {
    return PROBLEMS[this.code].status
  }
}

/** The problem an error is: a refusal of the rules, an absent database, or a fault of ours with a fixed text. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof InvalidFieldsError) {
    return new Problem('validation-error', summary(error.fields), { invalidFields: error.fields })
  }
  if (error instanceof NoGatewayError) return new Problem('not-configured', error.message)
  if (error instanceof GatewayFailedError) return new Problem('upstream-failed', error.message)
  if (error instanceof ConflictError) return new Problem('conflict', error.message)
  if (isDatabaseUnavailable(error)) {
    return new Problem(
      'unavailable',
      'The database cannot be reached.',
      { headers: { 'Retry-After': '5' } },
      { cause: error },
    )
  }
  if (isOutdatedStatement(error)) {
    return new Problem(
      'unavailable',
      'The database is being changed; nothing of the request was carried out.',
      { headers: { 'Retry-After': '1' } },
      { cause: error },
    )
  }
  if (hasCode(error, TOO_SLOW)) {
    return new Problem(
      'unavailable',
      'The database took too long to answer.',
      { headers: { 'Retry-After': '5' } },
      { cause: error },
    )
  }
  if (hasCode(error, LOCK_CONFLICT)) {
    return new Problem(
      'unavailable',
      'Another request was at the same records; nothing of this one was carried out.',
      { headers: { 'Retry-After': '1' } },
      { cause: error },
    )
  }
  if (error instanceof OwnFaultError) {
    return new Problem(
      'unavailable',
      'Nothing can be sent at the moment.',
      { headers: { 'Retry-After': '1' } },
      { cause: error },
    )
  }
  return new Problem('internal-error', 'The request could not be completed.', {}, { cause: error })
}

/** A problem's body. Ids and names it repeats are a caller's, who may have put a card number there: none goes out again. */
export function problemBody(problem: Problem, baseUrl: string, requestId: string) {
  const { status, title } = PROBLEMS[problem.code]
  return {
    type: `${baseUrl}/problems/${problem.code}`,
    title,
    status,
    detail: withoutCardNumbers(problem.message),
    instance: `urn:request:${requestId}`,
    code: problem.code,
    ...(problem.extras.invalidFields === undefined
      ? {}
      : {
          invalidFields: problem.extras.invalidFields.map(({ field, message }) => ({
            field: withoutCardNumbers(field),
            message: withoutCardNumbers(message),
          })),
        }),
  }
}

/** One sentence over failing fields, for `detail`. */
export function summary(fields: readonly InvalidField[]): string {
  return fields.map(({ field, message }) => (field === '' ? message : `${field} ${message}`)).join('; ')
}

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'ENOENT',
])

/**
 * PostgreSQL's serialization_failure, deadlock_detected and lock_not_available: of two transactions in each other's way one
 * was undone.
 */
const LOCK_CONFLICT = ['40001', '40P01', '55P03']
/** PostgreSQL's query_canceled: a statement ran into its timeout. */
const TOO_SLOW = ['57014']

/** Whether it was caused by an error of PostgreSQL with one of the codes. */
function hasCode(error: unknown, codes: readonly string[]): boolean {
  for (let cause = error; Error.isError(cause); cause = cause.cause) {
    if ('code' in cause && codes.includes(String(cause.code))) return true
  }
  return false
}

/**
 * Connection failures, and PostgreSQL's own classes 08 (connection), 53 (resources), 57P (shutting down, starting) and
 * 25P03 (a transaction that stood still was ended).
 */
function isDatabaseUnavailable(error: unknown): boolean {
  for (let cause = error; Error.isError(cause); cause = cause.cause) {
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
    if (UNREACHABLE.has(code) || /^(08|53|57P|25P03)/.test(code)) return true
    if (
      /Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error/.test(
        cause.message,
      )
    ) {
      return true
    }
    if (cause instanceof AggregateError && cause.errors.some(isDatabaseUnavailable)) return true
  }
  return false
}
