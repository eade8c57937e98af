import { ID_PATTERN } from '../../billing/id-format.ts'
import { pageParameters } from '../query/paging.ts'
import { isOfHost, type Route, resourcesWithCustomFields } from '../routes.ts'
import { responseSchema } from '../schemas/body-and-response.ts'
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

function queryParameter(name: string, of: object): Parameter {
  const { description = '', 'x-list-of': _, ...schema } = of as JsonSchema
  return { name, in: 'query', required: false, description, schema }
}

const ID: JsonSchema = { type: 'string', pattern: ID_PATTERN, minLength: 1, maxLength: 50 }

export const PARAMETERS = {
  OrganizationId: {
    name: 'organizationId',
    in: 'path',
    required: true,
    description: 'Id of the organization.',
    schema: ID,
    example: 'org_01K3Z9V6T4Q8W2E5R7Y1X0C3B6',
  },
  Limit: queryParameter('limit', pageParameters.limit),
  Offset: queryParameter('offset', pageParameters.offset),
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
  StripeSignature: {
    ...header(
      'Stripe-Signature',
      'The signature of Stripe over the body, and when it was made.',
      { type: 'string', minLength: 1 },
      't=1769850600,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
    ),
    required: true,
  },
} as const satisfies Record<string, Parameter>

type Reference = { readonly $ref: string }

export const parameterRef = (name: keyof typeof PARAMETERS): Reference => ({
  $ref: `#/components/parameters/${name}`,
})

export function parametersOf(route: Route): (Parameter | Reference)[] {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
  return [
    ...(isOfHost(route) ? [] : [parameterRef('OrganizationId')]),
    ...names.map((name) => pathParameter(name, route)),
    ...queryParameters(route),
    ...headersOf(route),
  ]
}

export function hasEntityTag({ resource, entityTag }: Pick<Route, 'resource' | 'entityTag'>): boolean {
  return entityTag ?? 'revision' in propertiesOf(resource)
}

/** True if a read responds with 304 to a reader who has the revision. */
export function isRevalidated(route: Route): boolean {
  const { method, returns, revalidated = true } = route
  return method === 'GET' && returns === 'one' && hasEntityTag(route) && revalidated
}

export function isConditional(route: Route): boolean {
  const { method, conditional } = route
  switch (method) {
    case 'GET':
      return false
    case 'POST':
      return conditional ?? false
    default:
      return conditional ?? hasEntityTag(route)
  }
}

export function isUpsert({ method, success, creates = false }: Route): boolean {
  return method === 'PUT' && creates && success === 200
}

function pathParameter(name: string, { path }: Route): Parameter {
  const [resource = ''] = path.split('/')
  const own = PATH_PARAMETERS[`${resource}.${name}`] ?? PATH_PARAMETERS[name]
  const { description = 'Id of the resource.', schema = () => ID } = own ?? {}
  return { name, in: 'path', required: true, description, schema: schema() }
}

interface PathParameter {
  readonly description: string
  /** A function, because the resources with custom fields are read from the route table. Default: an id. */
  readonly schema?: () => JsonSchema
}

const TOKEN: PathParameter = {
  description: 'Value of the token.',
  schema: () => ({ type: 'string', minLength: 1 }),
}

/** By name, or by the first segment of the path and the name. */
const PATH_PARAMETERS: Readonly<Record<string, PathParameter>> = {
  token: TOKEN,
  'password-tokens.id': TOKEN,
  customerId: { description: 'Id of the customer.' },
  fastForwardId: { description: 'Id of the fast-forward.' },
  invoiceId: { description: 'Id of the upcoming invoice.' },
  itemId: { description: 'Id of the item.' },
  messageId: { description: 'Id of the entry.' },
  tag: { description: 'Id or name of the tag.', schema: () => ({ type: 'string', minLength: 1 }) },
  'custom-fields.resource': {
    description: 'Resource whose records have the field, as paths name it.',
    schema: () => ({ type: 'string', enum: resourcesWithCustomFields() }),
  },
  'custom-fields.name': {
    description: 'Name of the field, as in `customFields`.',
    schema: () => ({ type: 'string', pattern: '^[A-Za-z0-9_-]{1,60}$', maxLength: 60 }),
  },
}

function queryParameters(route: Route): (Parameter | Reference)[] {
  return Object.entries(propertiesOf(route.query)).map(([name, schema]): Parameter | Reference => {
    if (name === 'limit') return parameterRef('Limit')
    if (name === 'offset') return parameterRef('Offset')
    const listed =
      name === 'fields' ? Object.keys(propertiesOf(responseSchema(route.resource))) : schema['x-list-of']
    const { schema: value, ...parameter } = queryParameter(name, schema)
    if (!Array.isArray(listed)) return { ...parameter, schema: value }
    return {
      ...parameter,
      style: 'form',
      explode: false,
      schema: { type: 'array', items: { type: 'string', enum: listed } },
    }
  })
}

export function isSigned({ accepts }: Pick<Route, 'accepts'>): boolean {
  return accepts.length === 0
}

function headersOf(route: Route): Reference[] {
  if (isSigned(route)) return [parameterRef('StripeSignature')]
  return [
    ...(route.method === 'POST' ? [parameterRef('IdempotencyKey')] : []),
    ...(isRevalidated(route) ? [parameterRef('IfNoneMatch')] : []),
    ...(isConditional(route) ? [parameterRef('IfMatch')] : []),
    ...(isUpsert(route) ? [parameterRef('CreateOnly')] : []),
  ]
}

function propertiesOf(schema: object | undefined): Readonly<Record<string, JsonSchema>> {
  return (schema as JsonSchema | undefined)?.properties ?? {}
}
