/** The problem catalogue (RFC 9457). Problem pages and the OpenAPI document are made from `PROBLEMS`. */
import { withoutCardNumbers } from '../../billing/cards.ts'
import { ConflictError, type InvalidField, InvalidFieldsError } from '../../billing/errors.ts'
import { isOutdatedStatement } from '../../db/driver.ts'
import { isInfrastructureFailure } from '../../db/infrastructure-failure.ts'
import { OwnFaultError } from '../../delivery/own-fault.ts'
import { GatewayFailedError, NoGatewayError, NotificationRefusedError } from '../../gateways/port.ts'
import { NoWalletError, WalletFailedError } from '../../wallets/port.ts'
import { type ListedField, listed, summary } from './invalid-fields.ts'

interface ProblemType {
  readonly status: number
  readonly title: string
  /** What it means and how to fix it: the text of its page. */
  readonly meaning: string
}

export const PROBLEMS = {
  'malformed-request': {
    status: 400,
    title: 'Malformed request',
    meaning:
      'The body is not valid JSON, a query parameter is unknown, of the wrong type or out of range, or a header such as `If-Match` or `Idempotency-Key` is empty or malformed. `invalidFields` lists the parameters. Fix the request before you send it again.',
  },
  unauthorized: {
    status: 401,
    title: 'Unauthorized',
    meaning:
      'The credential is missing, unknown, expired or of another environment, or the request has two credentials. Send exactly one key of this environment; a secret key goes in the `SVC-APIKEY` header. When a customer signs in, the username or the password is wrong.',
  },
  forbidden: {
    status: 403,
    title: 'Forbidden',
    meaning:
      'The credential is valid but does not permit this request. Its access list may not include the operation, its type may not be accepted here, its allowed addresses may not include yours, or it may belong to another organization.',
  },
  'not-found': {
    status: 404,
    title: 'Not found',
    meaning: 'The path does not exist, or the organization has no resource with this id. Check both.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    meaning: 'The path does not support this method. The `Allow` header lists the supported methods.',
  },
  'request-timeout': {
    status: 408,
    title: 'Request timeout',
    meaning:
      'The request did not arrive completely within a minute, or its header within 20 seconds, and it was not processed. Send it again on a new connection.',
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    meaning:
      'The current state of the resource does not permit the request, or the request changes a member that cannot change. Retrieve the resource to see its state.',
  },
  'precondition-failed': {
    status: 412,
    title: 'Precondition failed',
    meaning:
      'The resource does not match the `If-Match` or `If-None-Match` header. Retrieve the resource, and send the request again with its current `ETag`.',
  },
  'payload-too-large': {
    status: 413,
    title: 'Request body too large',
    meaning: 'The maximum size of a request body is 1 MiB.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'Unsupported media type',
    meaning:
      'The request body is not declared as JSON. Send `Content-Type: application/json`, or a type that ends in `+json`.',
  },
  'expectation-failed': {
    status: 417,
    title: 'Expectation failed',
    meaning: 'The only supported value of the `Expect` header is `100-continue`.',
  },
  'validation-error': {
    status: 422,
    title: 'Validation failed',
    meaning:
      'One or more members of the body are invalid, and nothing was saved. `invalidFields` lists up to 100 of them, each with its path (`field`, such as `items.0.plan.id`, and `pointer`, a JSON Pointer), a stable `code` and a `message`.',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'Idempotency key already used',
    meaning:
      'The `Idempotency-Key` was used for another request: one with another path, another body, or a credential whose permissions or allowed addresses differed. A change of the `acl` or `allowedIps` of an API key has that effect too. Use a new key for each new request.',
  },
  'rate-limit-exceeded': {
    status: 429,
    title: 'Too many requests',
    meaning:
      "A limit was exceeded, and the request was not processed: of requests, of which all publishable keys and customers' JWTs of an organization share a tenth, of documents being made or passwords being checked at the same time, or of sign-ins with a wrong password. Send it again after the time in `X-RateLimit-Retry-After` (Unix seconds).",
  },
  'request-header-too-large': {
    status: 431,
    title: 'Request header too large',
    meaning: 'The path, the query and the headers of a request may have 16 KiB together.',
  },
  'internal-error': {
    status: 500,
    title: 'Internal error',
    meaning:
      'An unexpected error occurred. Send the request again; if the error persists, report the `Request-Id`.',
  },
  'not-implemented': {
    status: 501,
    title: 'Not implemented',
    meaning:
      'This deployment does not support the operation. The detail says what its operator has to enable.',
  },
  'upstream-failed': {
    status: 502,
    title: 'Upstream provider failed',
    meaning: 'A provider that the operation depends on returned an error. Send the request again later.',
  },
  unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    meaning:
      'A component that the operation depends on cannot be reached. Send the request again after `Retry-After` seconds.',
  },
  'not-configured': {
    status: 503,
    title: 'Not configured',
    meaning:
      'This deployment is not configured for the operation. The detail says which settings its operator has to make.',
  },
} as const satisfies Record<string, ProblemType>

export type ProblemCode = keyof typeof PROBLEMS

export interface ProblemExtras {
  readonly invalidFields?: readonly ListedField[]
  readonly headers?: Readonly<Record<string, string>>
}

/** An error response. The detail is public: what to change, and nothing internal. */
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

export function invalidFieldsProblem(
  code: 'validation-error' | 'malformed-request',
  fields: Iterable<InvalidField>,
): Problem {
  const invalidFields = listed(fields)
  return new Problem(code, summary(invalidFields), { invalidFields })
}

export function requireNoInvalidFields(
  code: 'validation-error' | 'malformed-request',
  fields: Iterable<InvalidField>,
): void {
  const problem = problemOfFields(code, fields)
  if (problem !== null) throw problem
}

/** Null without a field: an error records its stack, which most requests need not pay for. */
export function problemOfFields(
  code: 'validation-error' | 'malformed-request',
  fields: Iterable<InvalidField>,
): Problem | null {
  const invalidFields = listed(fields)
  return invalidFields.length === 0 ? null : new Problem(code, summary(invalidFields), { invalidFields })
}

/** Returns the problem of any error. An internal error has a fixed text. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof InvalidFieldsError) {
    return invalidFieldsProblem('validation-error', error.fields)
  }
  if (error instanceof NoGatewayError || error instanceof NoWalletError)
    return new Problem('not-configured', error.message)
  if (error instanceof GatewayFailedError || error instanceof WalletFailedError)
    return new Problem('upstream-failed', error.message)
  if (error instanceof NotificationRefusedError) return new Problem('malformed-request', error.message)
  if (error instanceof ConflictError) return new Problem('conflict', error.message)
  if (isOutdatedStatement(error)) {
    return unavailable('The database is being upgraded, and the request was not processed.', 1, error)
  }
  if (hasCode(error, TOO_SLOW)) {
    return unavailable('The database did not respond in time.', 5, error)
  }
  if (hasCode(error, LOCK_CONFLICT)) {
    return unavailable(
      'Another request is changing the same records, and this request was not processed.',
      1,
      error,
    )
  }
  if (error instanceof OwnFaultError) {
    return unavailable('The service cannot send requests at the moment.', 1, error)
  }
  // After its special cases above.
  if (isInfrastructureFailure(error)) {
    return unavailable('The service cannot reach its database, or lacks resources.', 5, error)
  }
  return new Problem('internal-error', 'The request could not be completed.', {}, { cause: error })
}

/** `seconds`: after which the request may be repeated. */
function unavailable(detail: string, seconds: number, cause: unknown): Problem {
  return new Problem('unavailable', detail, { headers: { 'Retry-After': String(seconds) } }, { cause })
}

const LARGEST_BODY = 64 * 1024
/** The detail may repeat a name that the caller sent. */
const LONGEST_DETAIL = 2_000

/** Returns JSON of at most 64 KiB; fields that do not fit are left out. Card numbers from the caller are masked. */
export function problemBody(problem: Problem, baseUrl: string, requestId: string): string {
  const { status, title } = PROBLEMS[problem.code]
  const body = {
    type: `${baseUrl}/problems/${problem.code}`,
    title,
    status,
    detail: withoutCardNumbers(problem.message).slice(0, LONGEST_DETAIL).toWellFormed(),
    instance: `urn:request:${requestId}`,
    code: problem.code,
  }
  const { invalidFields } = problem.extras
  if (invalidFields === undefined) return JSON.stringify(body)
  let size = byteLength({ ...body, invalidFields: [] })
  const fitting = invalidFields.filter((field) => {
    size += byteLength(field) + 1
    return size <= LARGEST_BODY
  })
  return JSON.stringify({ ...body, invalidFields: fitting })
}

function byteLength(value: object): number {
  return Buffer.byteLength(JSON.stringify(value))
}

/** serialization_failure, deadlock_detected, lock_not_available: one of two transactions was rolled back. */
const LOCK_CONFLICT = ['40001', '40P01', '55P03']
/** query_canceled: a statement ran into its timeout. */
const TOO_SLOW = ['57014']

function hasCode(error: unknown, codes: readonly string[]): boolean {
  for (let cause = error; Error.isError(cause); cause = cause.cause) {
    if ('code' in cause && codes.includes(String(cause.code))) return true
  }
  return false
}
