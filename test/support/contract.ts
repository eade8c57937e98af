/** Compares responses and events with the OpenAPI document. Members that it does not name are refused here. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import type { JsonSchema } from '../../api/openapi/schemas.ts'
import { openApiDocument } from '../../api/openapi.ts'
import { ROUTES } from '../../api/routes.ts'
import { parseDuration } from '../../billing/durations.ts'

export interface Exchange {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Returns what is wrong with a response; null if it is as documented. */
export function contractProblem(exchange: Exchange): string | null {
  contract ??= readContract()
  return contract.responseProblem(exchange)
}

export function eventContractProblem(type: string, payload: string): string | null {
  contract ??= readContract()
  return contract.eventProblem(type, payload)
}

interface Contract {
  responseProblem(exchange: Exchange): string | null
  eventProblem(type: string, payload: string): string | null
}
let contract: Contract | null = null

interface Ref {
  readonly $ref?: string
}
interface Header extends Ref {
  readonly required?: boolean
  readonly schema: JsonSchema
}
interface Response extends Ref {
  readonly headers?: Readonly<Record<string, Header>>
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>
}
interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, Response>>
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<
    Record<string, { post: { requestBody: { content: Record<string, { schema: JsonSchema }> } } }>
  >
  readonly components: Readonly<Record<string, Readonly<Record<string, Response & Header & JsonSchema>>>>
}

const NOT_OF_THE_API = /^\/(demo|docs)\//
/** Statuses of HTTP itself, which any request can have. */
const OF_HTTP = [405, 408, 417, 431]
const ROOT = 'https://contract.test/'
const SANDBOX_ONLY = new Set(
  ROUTES.filter(({ sandboxOnly = false }) => sandboxOnly).map(({ operationId }) => operationId),
)

/** Compiles nothing until it is needed: a test file needs few of the operations. */
export function readContract(document: object = openApiDocument('https://contract.test', ROUTES)): Contract {
  const { paths, webhooks, components } = document as Document
  const resolve = <T extends Ref>(value: T): T =>
    value.$ref === undefined ? value : resolve(at(components, value.$ref) as T)
  const ajv = new Ajv2020({
    strict: false,
    allErrors: false,
    coerceTypes: false,
    formats: { ...fullFormats, duration: (text: string) => parseDuration(text) !== null },
  })
  ajv.addSchema({ $id: ROOT, components: { schemas: mapValues(components.schemas ?? {}, closed) } })
  const validators = new Map<string, ValidateFunction>()
  const validatorOf = (schema: JsonSchema): ValidateFunction => {
    const key = JSON.stringify(schema)
    const known = validators.get(key) ?? ajv.compile(closed(absolute(schema)))
    validators.set(key, known)
    return known
  }
  const operations = Object.entries(paths).map(([path, methods]) => ({
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    path,
    methods,
  }))
  // A path without parameters comes before one whose parameter it could be.
  operations.sort((one, other) => parametersIn(one.path) - parametersIn(other.path))

  const find = (method: string, path: string) => {
    const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
    const known = operations.filter(({ pattern }) => pattern.test(trimmed))
    const wanted = method === 'HEAD' ? 'get' : method.toLowerCase()
    return {
      isPath: known.length > 0,
      isSandboxOnly: known.every(({ methods }) =>
        Object.values(methods).every(({ operationId }) => SANDBOX_ONLY.has(operationId)),
      ),
      operation: known.find(({ methods }) => methods[wanted])?.methods[wanted],
    }
  }

  const bodyProblem = ({ content }: Response, { text, headers, path }: Exchange): string | null => {
    if (content === undefined) return text === '' ? null : 'has a body, which is not documented'
    const type = (headers.get('content-type') ?? '').split(';')[0] ?? ''
    const documented = content[type]
    if (documented === undefined) return `has the content type ${type}, which is not documented`
    if (!type.endsWith('json')) return null
    const hasFields = new URL(path, ROOT).searchParams.get('fields')
    const schema = hasFields ? partOf(documented.schema, resolve) : documented.schema
    return schemaProblem(schema, JSON.parse(text))
  }

  const schemaProblem = (schema: JsonSchema, value: unknown): string | null => {
    const validate = validatorOf(schema)
    return validate(value)
      ? null
      : `does not match its schema: ${ajv.errorsText(validate.errors, { dataVar: 'body' })} ${JSON.stringify(validate.errors?.[0]?.params)}`
  }

  return {
    responseProblem(exchange) {
      const { method, path, status, headers } = exchange
      const [pathname = '/'] = path.split('?')
      if (NOT_OF_THE_API.test(pathname) || method === 'OPTIONS') return null
      const { isPath, isSandboxOnly, operation } = find(method, pathname)
      const early = isSandboxOnly ? [400, 404, 405] : [400, isPath ? 405 : 404]
      const isRefusedEarly = operation === undefined ? early : OF_HTTP
      const response = operation?.responses[status]
      const problem =
        response !== undefined
          ? (headersProblem(resolve(response), headers, resolve) ??
            (method === 'HEAD' ? null : bodyProblem(resolve(response), exchange)))
          : isRefusedEarly.includes(status)
            ? method === 'HEAD'
              ? null
              : schemaProblem({ $ref: '#/components/schemas/Problem' }, JSON.parse(exchange.text))
            : 'has a status that is not documented'
      return problem === null
        ? null
        : `${method} ${pathname} (${operation?.operationId ?? 'no operation'}): the response ${status} ${problem}`
    },
    eventProblem(type, payload) {
      const schema = webhooks[type]?.post.requestBody.content['application/json']?.schema
      if (schema === undefined) return `the event type ${type} is not documented`
      const problem = schemaProblem(schema, JSON.parse(payload))
      return problem === null ? null : `the payload of ${type} ${problem}`
    },
  }
}

const KNOWN = [
  'ETag',
  'Location',
  'Link',
  'Pagination-Total',
  'Pagination-Limit',
  'Pagination-Offset',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Idempotency-Replayed',
  'Request-Id',
  'WWW-Authenticate',
]

function headersProblem(
  { headers: documented = {} }: Response,
  headers: Headers,
  resolve: (header: Header) => Header,
): string | null {
  for (const [name, ref] of Object.entries(documented)) {
    const { required = false, schema } = resolve(ref)
    const value = headers.get(name)
    if (value === null && required) return `lacks the header ${name}`
    if (value !== null && schema.type === 'integer' && !/^\d+$/.test(value))
      return `has a header ${name} that is no number`
  }
  const unknown = KNOWN.filter((name) => headers.has(name) && documented[name] === undefined)
  return unknown.length === 0 ? null : `has ${unknown.join(', ')}, which it is not documented to have`
}

/** Closes each object, so that a member that is not documented is an error. */
function closed(schema: JsonSchema): JsonSchema {
  const { properties, items, additionalProperties, oneOf, anyOf } = schema
  return {
    ...schema,
    ...(properties === undefined
      ? {}
      : {
          properties: mapValues(properties, closed),
          additionalProperties: additionalProperties ?? false,
        }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: closed(additionalProperties) }
      : {}),
    ...(items === undefined ? {} : { items: closed(items) }),
    ...(oneOf === undefined ? {} : { oneOf: oneOf.map(closed) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(closed) }),
  }
}

/** With `fields`, the resource, or each of a list, may lack any member. */
function partOf(schema: JsonSchema, resolve: (schema: JsonSchema) => JsonSchema): JsonSchema {
  if (schema.items !== undefined) return { ...schema, items: partOf(schema.items, resolve) }
  const { required: _, oneOf, ...rest } = resolve(schema)
  return oneOf === undefined ? rest : { anyOf: oneOf.map((one) => partOf(one, resolve)) }
}

/** Makes references absolute, so that they resolve anywhere. */
function absolute(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${ROOT}#/`)) as JsonSchema
}

function at(components: object, ref: string): unknown {
  const [, , ...segments] = ref.split('/')
  return segments.reduce<unknown>(
    (value, segment) => (value as Record<string, unknown> | undefined)?.[segment],
    components,
  )
}

function mapValues<T, U>(values: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]))
}

function parametersIn(path: string): number {
  return path.split('{').length
}
