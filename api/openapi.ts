/** The OpenAPI 3.1 document, made from the route table and its schemas. */
import { FIELD_CODES } from '../billing/errors.ts'
import { VERSION } from '../config/release.ts'
import type { KeyForm } from './http/authentication.ts'
import { KEY_HEADER } from './http/authentication.ts'
import { MOST_FIELDS } from './http/invalid-fields.ts'
import { PROBLEMS } from './http/problems.ts'
import { fullPath, type Route } from './routes.ts'
import { bodySchema, responseSchema } from './schemas/conventions.ts'

export interface OpenApiOperation {
  readonly operationId: string
  readonly summary: string
  readonly [member: string]: unknown
}

export interface OpenApiDocument {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
  readonly [member: string]: unknown
}

export function openApiDocument(baseUrl: string, routes: readonly Route[]): OpenApiDocument {
  const paths: Record<string, Record<string, OpenApiOperation>> = {}
  for (const route of routes) {
    const path = fullPath(route)
    paths[path] ??= {}
    paths[path][route.method.toLowerCase()] = operationOf(route)
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Subscription Billing Service API', version: VERSION },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: baseUrl }],
    paths,
    components: {
      schemas: {
        ...Object.fromEntries(
          routes.map(({ resource }) => [nameOf(resource), withoutId(responseSchema(resource))]),
        ),
        ...Object.fromEntries(
          routes
            .filter(({ takesBody }) => takesBody)
            .map(({ resource, body = resource }) => [`${nameOf(body)}Body`, withoutId(bodySchema(body))]),
        ),
        Problem: PROBLEM_SCHEMA,
      },
      securitySchemes: {
        secretKey: { type: 'apiKey', in: 'header', name: KEY_HEADER },
        customerToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        publishableKey: { type: 'apiKey', in: 'header', name: 'Authorization' },
      },
    },
  }
}

function operationOf(route: Route): OpenApiOperation {
  const parameters = [
    'organizationId',
    ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ''),
  ].map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const content = (schema: string) => ({
    'application/json': { schema: { $ref: `#/components/schemas/${schema}` } },
  })
  return {
    operationId: route.operationId,
    summary: route.summary,
    parameters: [...parameters, ...queryParameters(route)],
    security: route.accepts.flatMap((form) => SECURITY[form]),
    ...(route.takesBody
      ? { requestBody: { required: true, content: content(`${nameOf(route.body ?? route.resource)}Body`) } }
      : {}),
    responses: {
      [route.success]: { description: 'Success.', ...responseContent(route, nameOf(route.resource)) },
      ...(route.accepted === undefined
        ? {}
        : {
            202: {
              description: 'Accepted: poll the URL in `Location`.',
              content: content(nameOf(route.accepted)),
            },
          }),
      default: {
        description: `An error. Its code is one of ${Object.keys(PROBLEMS).join(', ')}.`,
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  }
}

function responseContent({ returns: content }: Route, name: string): object {
  const one = { $ref: `#/components/schemas/${name}` }
  switch (content) {
    case 'one':
      return { content: { 'application/json': { schema: one } } }
    case 'many':
      return { content: { 'application/json': { schema: { type: 'array', items: one } } } }
    case 'nothing':
      return {}
  }
}

function queryParameters({ query }: Route): object[] {
  const members = (query as { properties?: Record<string, object> } | undefined)?.properties ?? {}
  return Object.entries(members).map(([name, schema]) => ({ name, in: 'query', required: false, schema }))
}

const SECURITY: Readonly<Record<KeyForm, Record<string, string[]>[]>> = {
  secret: [{ secretKey: [] }],
  publishable: [{ publishableKey: [] }],
  customer: [{ customerToken: [] }],
}

const PROBLEM_SCHEMA = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code'],
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string' },
    code: { type: 'string', enum: Object.keys(PROBLEMS) },
    invalidFields: {
      type: 'array',
      maxItems: MOST_FIELDS,
      description: 'The members of the body, or the parameters of the query, that are invalid.',
      items: {
        type: 'object',
        required: ['field', 'pointer', 'code', 'message'],
        properties: {
          field: { type: 'string', description: 'Path with dots: `items.0.plan.id`.' },
          pointer: { type: 'string', description: 'Path as a JSON Pointer (RFC 6901): `/items/0/plan/id`.' },
          code: {
            type: 'string',
            enum: Object.keys(FIELD_CODES),
            description: Object.entries(FIELD_CODES)
              .map(([code, meaning]) => `\`${code}\`: ${meaning}`)
              .join(' '),
          },
          message: { type: 'string', description: 'What to change, for a reader. Its text may change.' },
        },
      },
    },
  },
}

function nameOf(schema: object): string {
  return '$id' in schema ? String(schema.$id) : 'Unnamed'
}

function withoutId(schema: object): object {
  const { $id: _, ...rest } = schema as { $id?: string }
  return rest
}
