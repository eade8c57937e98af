/** Parameters of operations: those of the path, of the query and of the request header. */
import { ID_PATTERN } from '../../db/ids.ts'
import type { Route } from '../routes.ts'
import { responseSchema } from '../schemas/conventions.ts'
import type { JsonSchema } from './schemas.ts'

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description: string
  readonly style?: 'form'
  readonly explode?: boolean
  readonly schema: JsonSchema
  readonly example?: unknown
}

const header = (name: string, description: string, schema: JsonSchema, example: string): Parameter => ({
  name,
  in: 'header',
  required: false,
  description,
  schema,
  example,
})

const ID: JsonSchema = { type: 'string', pattern: ID_PATTERN, minLength: 1, maxLength: 50 }

/** Parameters that operations refer to. */
export const PARAMETERS = {
  OrganizationId: {
    name: 'organizationId',
    in: 'path',
    required: true,
    description: 'Id of the organization.',
    schema: ID,
    example: 'org_01K3Z9V6T4Q8W2E5R7Y1X0C3B6',
  },
  Limit: {
    name: 'limit',
    in: 'query',
    required: false,
    description: 'Maximum number of items to return.',
    schema: { type: 'integer', minimum: 0, maximum: 1000, default: 100 },
  },
  Offset: {
    name: 'offset',
    in: 'query',
    required: false,
    description: 'Number of items to skip.',
    schema: { type: 'integer', minimum: 0, maximum: 1000, default: 0 },
  },
  IfMatch: header(
    'If-Match',
    'Entity tags as in `ETag`. The request is carried out only if the resource still has one of them; otherwise the response is 412.',
    { type: 'string' },
    '"3"',
  ),
  IfNoneMatch: header(
    'If-None-Match',
    'Entity tags as in `ETag`. The response is 304, without a body, if the resource still has one of them.',
    { type: 'string' },
    '"3"',
  ),
  CreateOnly: header(
    'If-None-Match',
    '`*`: the request is carried out only if no resource has this id; otherwise the response is 412.',
    { type: 'string' },
    '*',
  ),
  IdempotencyKey: header(
    'Idempotency-Key',
    'A unique value of your own, such as a UUID. For 24 hours a repetition of the request returns the first response, with `Idempotency-Replayed: true`, and changes nothing again.',
    { type: 'string', minLength: 1, maxLength: 255 },
    '8e03978e-40d5-43e8-bc93-6894a57f9324',
  ),
} as const satisfies Record<string, Parameter>

type Reference = { readonly $ref: string }

export const parameterRef = (name: keyof typeof PARAMETERS): Reference => ({
  $ref: `#/components/parameters/${name}`,
})

/** Returns the parameters of an operation. */
export function parametersOf(route: Route): (Parameter | Reference)[] {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
  return [
    parameterRef('OrganizationId'),
    ...names.map(pathParameter),
    ...queryParameters(route),
    ...headersOf(route),
  ]
}

/** True if responses have an entity tag, and requests can have preconditions: the resource has revisions. */
export function hasEntityTag({ resource, operationId }: Pick<Route, 'resource' | 'operationId'>): boolean {
  return 'revision' in propertiesOf(resource) && !VOLATILE.has(operationId)
}

/** Operations whose response changes without a change of the revision. */
const VOLATILE = new Set(['GetSubscriptionFastForward'])

function pathParameter(name: string): Parameter {
  const isToken = name === 'token'
  return {
    name,
    in: 'path',
    required: true,
    description: isToken ? 'Value of the token.' : (PATH_IDS[name] ?? 'Id of the resource.'),
    schema: isToken ? { type: 'string', minLength: 1 } : ID,
  }
}

const PATH_IDS: Readonly<Record<string, string>> = {
  fastForwardId: 'Id of the fast-forward.',
  messageId: 'Id of the entry.',
}

function queryParameters(route: Route): (Parameter | Reference)[] {
  return Object.entries(propertiesOf(route.query)).map(([name, schema]): Parameter | Reference => {
    if (name === 'limit') return parameterRef('Limit')
    if (name === 'offset') return parameterRef('Offset')
    const { description = '', 'x-list-of': values, ...rest }: JsonSchema = schema
    const listed = name === 'fields' ? Object.keys(propertiesOf(responseSchema(route.resource))) : values
    if (!Array.isArray(listed)) return { name, in: 'query', required: false, description, schema: rest }
    return {
      name,
      in: 'query',
      required: false,
      description,
      style: 'form',
      explode: false,
      schema: { type: 'array', items: { type: 'string', enum: listed } },
    }
  })
}

function headersOf(route: Route): Reference[] {
  const { method, creates = false, returns } = route
  const isConditional = hasEntityTag(route)
  if (method === 'POST') return [parameterRef('IdempotencyKey')]
  if (method === 'GET') return isConditional && returns === 'one' ? [parameterRef('IfNoneMatch')] : []
  if (!isConditional) return []
  return [parameterRef('IfMatch'), ...(method === 'PUT' && creates ? [parameterRef('CreateOnly')] : [])]
}

function propertiesOf(schema: object | undefined): Readonly<Record<string, JsonSchema>> {
  return (schema as JsonSchema | undefined)?.properties ?? {}
}
