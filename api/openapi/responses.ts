import { FIELD_CODES } from '../../billing/errors.ts'
import { ID_PATTERN } from '../../billing/id-format.ts'
import { MOST_FIELDS } from '../http/invalid-fields.ts'
import { PROBLEMS, type ProblemCode } from '../http/problems.ts'
import { fullPath, type Route } from '../routes.ts'
import { hasEntityTag, isConditional, isRevalidated, isSigned, isUpsert } from './parameters.ts'
import { type Components, type JsonSchema, pascal, refToComponent } from './schemas.ts'

export interface ResponseObject {
  readonly description: string
  readonly headers?: Readonly<Record<string, object>>
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema; readonly examples?: object }>>
}
type Reference = { readonly $ref: string }

const BINARY: JsonSchema = { type: 'string', format: 'binary' }
const INTEGER: JsonSchema = { type: 'integer', minimum: 0 }
const TEXT: JsonSchema = { type: 'string' }
const REQUEST_ID = 'req_01K3ZAP3T5V7X9Z1B3D5F7H9K1'

/** Headers of `ALWAYS` are in every response that lists them. */
export const HEADERS = {
  RequestId: {
    description:
      'Id of the request, which is also in the `instance` of a problem. State it when you report an error.',
    required: true,
    schema: { type: 'string', pattern: ID_PATTERN, maxLength: 50 },
    example: REQUEST_ID,
  },
  ETag: {
    description:
      'Entity tag of the revision, for `If-Match` and `If-None-Match`. A response with `expand` or `fields` has none.',
    schema: TEXT,
    example: '"3"',
  },
  Location: {
    description: 'URL of the new resource.',
    required: true,
    schema: { type: 'string', format: 'uri' },
  },
  StatusLocation: {
    description: 'URL at which to ask for the outcome.',
    required: true,
    schema: { type: 'string', format: 'uri' },
  },
  Link: {
    description:
      'Links to other pages (RFC 8288), with the relations `first`, `prev`, `next` and `last`. There is none to a page that does not exist or whose offset would exceed 1000, and the header is left out if its links are too long together.',
    schema: TEXT,
    example:
      '<https://billing.example/organizations/org_01K3Z9V6T4Q8W2E5R7Y1X0C3B6/customers?limit=100&offset=100>; rel="next"',
  },
  PaginationTotal: {
    description: 'Number of items on all pages.',
    required: true,
    schema: INTEGER,
    example: 250,
  },
  PaginationLimit: {
    description: 'Maximum number of items of this page.',
    required: true,
    schema: INTEGER,
    example: 100,
  },
  PaginationOffset: {
    description: 'Number of items before this page.',
    required: true,
    schema: INTEGER,
    example: 0,
  },
  RateLimitLimit: {
    description: 'Number of requests in a window.',
    schema: INTEGER,
    example: 3000,
  },
  RateLimitRemaining: {
    description: 'Number of requests that remain in this window.',
    schema: INTEGER,
    example: 2999,
  },
  RateLimitPolicy: {
    description: 'The limit as the IETF draft writes it: `q` requests in `w` seconds.',
    schema: TEXT,
    example: '"default";q=3000;w=600',
  },
  RateLimit: {
    description: 'What remains of the limit, as the IETF draft writes it: `r` requests, for `t` seconds.',
    schema: TEXT,
    example: '"default";r=2999;t=600',
  },
  RateLimitRetryAfter: {
    description: 'When the window ends, in Unix seconds (UTC).',
    required: true,
    schema: INTEGER,
    example: 1769850600,
  },
  RetryAfter: {
    description: 'Number of seconds after which to send the request again.',
    schema: INTEGER,
    example: 5,
  },
  WwwAuthenticate: {
    description: 'The credentials that the operation accepts (RFC 9110).',
    required: true,
    schema: TEXT,
    example: 'ApiKey realm="organization", header="SVC-APIKEY"',
  },
  IdempotencyReplayed: {
    description:
      '`true` if this is the stored response of an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
  },
} as const satisfies Record<string, object>

const WIRE_NAMES: Readonly<Partial<Record<keyof typeof HEADERS, string>>> = {
  RequestId: 'Request-Id',
  StatusLocation: 'Location',
  PaginationTotal: 'Pagination-Total',
  PaginationLimit: 'Pagination-Limit',
  PaginationOffset: 'Pagination-Offset',
  RateLimitLimit: 'X-RateLimit-Limit',
  RateLimitRemaining: 'X-RateLimit-Remaining',
  RateLimitPolicy: 'RateLimit-Policy',
  RateLimitRetryAfter: 'X-RateLimit-Retry-After',
  RetryAfter: 'Retry-After',
  WwwAuthenticate: 'WWW-Authenticate',
  IdempotencyReplayed: 'Idempotency-Replayed',
}

type HeaderName = keyof typeof HEADERS

const PAGING = ['Link', 'PaginationTotal', 'PaginationLimit', 'PaginationOffset'] as const
const RATE = ['RateLimitLimit', 'RateLimitRemaining', 'RateLimitPolicy', 'RateLimit'] as const

export function headers(...names: readonly HeaderName[]): Record<string, object> {
  return Object.fromEntries(
    names.map((name) => [WIRE_NAMES[name] ?? name, { $ref: `#/components/headers/${name}` }]),
  )
}

/** Problems of one status are one response. */
const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  412: 'PreconditionFailed',
  413: 'ContentTooLarge',
  415: 'UnsupportedMediaType',
  422: 'UnprocessableContent',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  501: 'NotImplemented',
  502: 'BadGateway',
  503: 'ServiceUnavailable',
}

export function responsesOf(
  route: Route,
  components: Components,
  exampleOf: (schema: JsonSchema) => object,
): Record<string, ResponseObject | Reference> {
  const { success, accepted, returns, creates = false, method, alternative, signsIn = false } = route
  const isRead = method === 'GET'
  const common = headers(
    'RequestId',
    ...(isRead || isSigned(route) ? [] : RATE),
    ...(method === 'POST' && !isSigned(route) ? (['IdempotencyReplayed'] as const) : []),
  )
  const tag = hasEntityTag(route) && returns === 'one' ? headers('ETag') : {}
  const content = (schema: JsonSchema) => ({
    content: {
      'application/json': { schema, ...exampleOf(schema) },
      ...(alternative === undefined ? {} : { [alternative]: { schema: BINARY } }),
    },
  })
  const one = () => components.refTo(route.resource, 'response')
  const successful = (description: string, more: object = {}): ResponseObject => ({
    description,
    headers: { ...common, ...tag, ...(returns === 'many' ? headers(...PAGING) : {}), ...more },
    ...(returns === 'nothing' ? {} : content(returns === 'many' ? { type: 'array', items: one() } : one())),
  })
  const location = creates ? headers('Location') : {}
  return {
    [success]: successful(DESCRIPTIONS[success], success === 201 ? location : {}),
    ...(isUpsert(route) ? { 201: successful(DESCRIPTIONS[201], location) } : {}),
    ...(accepted === undefined
      ? {}
      : {
          202: {
            description: 'Accepted: it takes longer. Ask for the outcome at the URL in `Location`.',
            headers: { ...common, ...headers('StatusLocation') },
            ...content(components.refTo(accepted, 'response')),
          },
        }),
    ...(isRevalidated(route)
      ? {
          304: {
            description: 'Not modified: the resource still has an entity tag of `If-None-Match`.',
            headers: { ...common, ...tag },
          },
        }
      : {}),
    ...Object.fromEntries(
      problemStatuses(route).map((status) => [
        status,
        {
          $ref: `#/components/responses/${signsIn && status === 401 ? SIGN_IN_REFUSED : STATUS_NAMES[status]}`,
        },
      ]),
    ),
  }
}

const DESCRIPTIONS: Readonly<Record<Route['success'], string>> = {
  200: 'Success.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'Success, without a body.',
}

/** A wrong password is refused after the request has been counted, a wrong key before. */
const SIGN_IN_REFUSED = 'SignInRefused'

export function problemStatuses(route: Route): number[] {
  if (isSigned(route)) return [400, 404, 409, 413, 415, 500, 503]
  const { method, takesBody, checksQuery = false, callsProvider = false } = route
  const isRead = method === 'GET'
  const names = fullPath(route).match(/\{\w+\}/g) ?? []
  // An upsert finds no resource missing, but what its path names besides.
  const finds = names.length > (isUpsert(route) ? 2 : 1)
  return [
    400,
    401,
    403,
    ...(finds ? [404] : []),
    ...(isRead ? [] : [409]),
    ...(isConditional(route) ? [412] : []),
    ...(takesBody ? [413, 415] : []),
    ...(takesBody || method === 'POST' || checksQuery ? [422] : []),
    429,
    500,
    ...(route.accepted === undefined ? [] : [501]),
    ...(callsProvider ? [502] : []),
    503,
  ]
}

export function problemResponses(components: Components, baseUrl: string): Record<string, ResponseObject> {
  const codes = Object.keys(PROBLEMS) as ProblemCode[]
  components.add('InvalidField', INVALID_FIELD)
  const general = components.add('Problem', problemSchema(codes))
  const ofStatuses = Object.entries(STATUS_NAMES).map(([status, name]) => {
    const ofStatus = codes.filter((code) => PROBLEMS[code].status === Number(status))
    for (const code of ofStatus) components.add(problemName(code), problemSchema([code]))
    return [name, problemResponse(Number(status), ofStatus, baseUrl)] as const
  })
  const [unauthorized] = ofStatuses.flatMap(([name, response]) => (name === 'Unauthorized' ? [response] : []))
  const signInRefused = { ...unauthorized, headers: { ...unauthorized?.headers, ...headers(...RATE) } }
  const refused: ResponseObject = {
    description: 'The request is refused: another method than the listed ones, or not valid HTTP.',
    headers: headers('RequestId'),
    content: { 'application/problem+json': { schema: general } },
  }
  return {
    ...Object.fromEntries(ofStatuses),
    [SIGN_IN_REFUSED]: signInRefused as ResponseObject,
    Refused: refused,
  }
}

function problemResponse(status: number, codes: readonly ProblemCode[], baseUrl: string): ResponseObject {
  const refs = codes.map((code) => refToComponent(problemName(code)))
  const mapping = Object.fromEntries(codes.map((code, index) => [code, refs[index]?.$ref ?? '']))
  const [only] = refs
  const schema =
    refs.length === 1 && only !== undefined
      ? only
      : { oneOf: refs, discriminator: { propertyName: 'code', mapping } }
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].meaning}`).join('\n\n'),
    headers: headers(
      'RequestId',
      ...(status === 401 ? (['WwwAuthenticate'] as const) : RATE),
      ...(status === 429 ? (['RateLimitRetryAfter', 'RetryAfter'] as const) : []),
      ...(status === 503 ? (['RetryAfter'] as const) : []),
      ...(status === 409 || status === 422 ? (['IdempotencyReplayed'] as const) : []),
    ),
    content: {
      'application/problem+json': {
        schema,
        examples: Object.fromEntries(
          codes.map((code) => [
            code,
            { summary: PROBLEMS[code].title, value: problemExample(code, baseUrl) },
          ]),
        ),
      },
    },
  }
}

function problemName(code: ProblemCode): string {
  return `${pascal(code)}Problem`
}

const WITH_FIELDS: readonly ProblemCode[] = ['malformed-request', 'validation-error']

const INVALID_FIELD: JsonSchema = {
  type: 'object',
  description: 'A member of the body or a parameter that is invalid.',
  required: ['field', 'pointer', 'code', 'message'],
  properties: {
    field: {
      type: 'string',
      description: 'Path with dots, such as `items.0.plan.id`; empty for the whole body.',
    },
    pointer: {
      type: 'string',
      description: 'Path as a JSON Pointer (RFC 6901), such as `/items/0/plan/id`.',
    },
    code: {
      type: 'string',
      enum: Object.keys(FIELD_CODES),
      description: Object.entries(FIELD_CODES)
        .map(([code, meaning]) => `\`${code}\`: ${meaning}`)
        .join(' '),
    },
    message: { type: 'string', description: 'What to change, for a reader. Its text may change.' },
  },
}

function problemSchema(codes: readonly ProblemCode[]): JsonSchema {
  const [code] = codes
  const statuses = [...new Set(codes.map((one) => PROBLEMS[one].status))].sort((a, b) => a - b)
  const hasFields = codes.some((one) => WITH_FIELDS.includes(one))
  const isAlways = codes.length === 1 && code === 'validation-error'
  return {
    type: 'object',
    description:
      codes.length === 1 && code !== undefined ? `${PROBLEMS[code].title}.` : 'An error (RFC 9457).',
    required: [
      'type',
      'title',
      'status',
      'detail',
      'instance',
      'code',
      ...(isAlways ? ['invalidFields'] : []),
    ],
    properties: {
      type: { type: 'string', format: 'uri', description: 'URL of the page that explains the problem.' },
      title: { type: 'string', description: 'Name of the problem, the same for all of its kind.' },
      status: { type: 'integer', description: 'HTTP status of the response.', enum: statuses },
      detail: { type: 'string', description: 'What to change.' },
      instance: { type: 'string', description: 'URN of the request, with its `Request-Id`.' },
      code: { type: 'string', description: 'Code of the problem, to be switched on.', enum: [...codes] },
      ...(hasFields
        ? {
            invalidFields: {
              type: 'array',
              maxItems: MOST_FIELDS,
              description: 'The members of the body, or the parameters of the query, that are invalid.',
              items: refToComponent('InvalidField'),
            },
          }
        : {}),
    },
  }
}

function problemExample(code: ProblemCode, baseUrl: string): object {
  const { status, title } = PROBLEMS[code]
  const { detail = title, invalidFields } = PROBLEM_EXAMPLES[code] ?? {}
  return {
    type: `${baseUrl}/problems/${code}`,
    title,
    status,
    detail: detail.endsWith('.') ? detail : `${detail}.`,
    instance: `urn:request:${REQUEST_ID}`,
    code,
    ...(invalidFields === undefined ? {} : { invalidFields }),
  }
}

const PROBLEM_EXAMPLES: Readonly<
  Partial<Record<ProblemCode, { readonly detail: string; readonly invalidFields?: readonly object[] }>>
> = {
  'malformed-request': {
    detail: 'limit must be at most 1000',
    invalidFields: [
      { field: 'limit', pointer: '/limit', code: 'out-of-range', message: 'must be at most 1000' },
    ],
  },
  unauthorized: { detail: 'The key does not exist in this environment.' },
  forbidden: { detail: 'The access list of the credential does not name PostCustomer.' },
  'not-found': { detail: 'No customer with the id cus_1 exists.' },
  conflict: { detail: 'The type of an API key cannot be changed.' },
  'precondition-failed': { detail: 'The resource is at revision 4.' },
  'payload-too-large': { detail: 'The request body is larger than 1 MiB.' },
  'unsupported-media-type': { detail: 'Send the body as JSON, with Content-Type: application/json.' },
  'validation-error': {
    detail: 'email must be an e-mail address',
    invalidFields: [
      { field: 'email', pointer: '/email', code: 'wrong-format', message: 'must be an e-mail address' },
    ],
  },
  'idempotency-key-reused': {
    detail:
      'The Idempotency-Key was already used for another request: one with another path, another body, or a credential whose permissions or allowed addresses differed.',
  },
  'rate-limit-exceeded': { detail: 'The limit of 3000 requests in 600 seconds has been exceeded.' },
  'internal-error': { detail: 'The request could not be completed.' },
  unavailable: { detail: 'The service cannot reach its database, or lacks resources.' },
}
