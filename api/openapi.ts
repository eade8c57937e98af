import type { TSchema } from 'typebox'
import { VERSION } from '../config/release.ts'
import type { KeyForm } from './http/authentication.ts'
import { KEY_HEADER } from './http/authentication.ts'
import { descriptionOf, introduction } from './openapi/descriptions.ts'
import { eventCallbacks, eventHooks } from './openapi/event-hooks.ts'
import { type Example, examplesOf } from './openapi/examples.ts'
import { hostPaths } from './openapi/host-paths.ts'
import { PARAMETERS, parametersOf } from './openapi/parameters.ts'
import { HEADERS, problemResponses, responsesOf } from './openapi/responses.ts'
import { type Components, createComponents, type JsonSchema, orNull, pascal } from './openapi/schemas.ts'
import { HOST_TAG, tagOf } from './openapi/tags.ts'
import { fullPath, type Route } from './routes.ts'
import { LeadSource } from './schemas/lead-source.ts'

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

/** Returns the document of one environment. The same routes give the same document. */
export function openApiDocument(
  baseUrl: string,
  routes: readonly Route[],
  environment: string = 'sandbox',
): OpenApiDocument {
  const resources = new Map(routes.map(({ resource }) => [idOf(resource), resource]))
  const expansions = expansionsOf(routes)
  const components: Components = createComponents((resource) => {
    const names = expansions.get(idOf(resource))
    if (names === undefined) return null
    return Object.fromEntries(
      names.map((name) => [name, embeddedSchema(idOf(resource), name, resources, components)]),
    )
  })
  const examples: Record<string, Example> = {}
  const sources = { schemas: components.schemas, baseUrl, paths: readPaths(routes) }
  const examplesFor = (schema: JsonSchema) => examplesOf(schema, sources)

  const problems = problemResponses(components, baseUrl)
  const webhooks = eventHooks(components, resources, examplesFor)
  const callbacks: Readonly<Record<string, object>> = { PostWebhook: eventCallbacks(components) }
  const paths: Record<string, Record<string, OpenApiOperation>> = {}
  const ids = new Set(routes.map(({ operationId }) => operationId))
  for (const route of routes) {
    const path = fullPath(route)
    paths[path] ??= {}
    paths[path][route.method.toLowerCase()] = {
      ...operationOf(
        route,
        components,
        (schema) => referredExamples(schema, examplesFor, examples),
        ids.has(route.operationId.replace('Post', 'Put')),
      ),
      ...(callbacks[route.operationId] === undefined ? {} : { callbacks: callbacks[route.operationId] }),
    }
  }
  const host = hostPaths(components)
  const tags = [...routes.map(({ path }) => tagOf(path)), HOST_TAG]
  return {
    openapi: '3.1.0',
    info: {
      title: 'Subscription Billing Service API',
      version: VERSION,
      description: introduction(environment, baseUrl),
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
      contact: { name: 'API reference', url: `${baseUrl}/docs` },
    },
    servers: [{ url: baseUrl, description: `The ${environment} environment.` }],
    tags: [...new Map(tags.map((tag) => [tag.name, tag])).values()],
    paths: { ...paths, ...host },
    webhooks,
    components: {
      schemas: components.schemas,
      responses: problems,
      parameters: PARAMETERS,
      headers: HEADERS,
      examples,
      securitySchemes: {
        secretKey: {
          type: 'apiKey',
          in: 'header',
          name: KEY_HEADER,
          description: 'A secret key (`sk_…`), for servers only.',
        },
        customerToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'The JWT of a customer, issued in exchange for an authentication token.',
        },
        publishableKey: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'A publishable key (`pk_…`) as it is, for browsers.',
        },
        rawSecretKey: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'A secret key (`sk_…`) as it is, on the operations that list it.',
        },
      },
    },
  }
}

function operationOf(
  route: Route,
  components: Components,
  exampleOf: (schema: JsonSchema) => object,
  hasPut: boolean,
): OpenApiOperation {
  const { operationId, summary, accepts, secretInAuthorization = false, takesBody, body, resource } = route
  const bodyRef = takesBody ? components.refTo(body ?? resource, 'body') : null
  return {
    operationId,
    summary,
    description: descriptionOf(route, hasPut),
    tags: [tagOf(route.path).name],
    parameters: parametersOf(route),
    security: [
      ...accepts.flatMap((form) => SECURITY[form]),
      ...(secretInAuthorization ? [{ rawSecretKey: [] }] : []),
    ],
    ...(bodyRef === null
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: bodyRef, ...exampleOf(bodyRef) } },
          },
        }),
    responses: responsesOf(route, components, exampleOf),
  }
}

/** Returns a schema's examples as references, so that the document contains each once. */
function referredExamples(
  schema: JsonSchema,
  examplesFor: (schema: JsonSchema) => Readonly<Record<string, Example>>,
  examples: Record<string, Example>,
): object {
  const ref = schema.$ref ?? schema.items?.$ref
  if (ref === undefined) return {}
  const component = `${ref.split('/').at(-1)}${schema.$ref === undefined ? 'List' : ''}`
  const own = Object.entries(examplesFor(schema)).map(([key, example]) => {
    const name = key === 'body' || key === 'response' ? component : `${component}-${key}`
    examples[name] = example
    return [key, { $ref: `#/components/examples/${name}` }]
  })
  return { examples: Object.fromEntries(own) }
}

function readPaths(routes: readonly Route[]): ReadonlyMap<string, string> {
  const reads = routes.filter(({ method, returns }) => method === 'GET' && returns === 'one')
  return new Map(reads.reverse().map(({ resource, path }) => [idOf(resource), path]))
}

function expansionsOf(routes: readonly Route[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>()
  for (const { resource, query } of routes) {
    const names = (query as JsonSchema | undefined)?.properties?.expand?.['x-list-of']
    if (!Array.isArray(names)) continue
    const known = found.get(idOf(resource)) ?? new Set()
    found.set(idOf(resource), known)
    for (const name of names) known.add(String(name))
  }
  return new Map([...found].map(([resource, names]) => [resource, [...names]]))
}

/** Embedded records whose resource has another name; null: always null in this release. */
const EMBEDDED: Readonly<Record<string, string | null>> = {
  initialInvoice: 'Invoice',
  recentInvoice: 'Invoice',
  invoices: 'Invoice',
  parentTransaction: 'Transaction',
  childTransactions: 'Transaction',
  defaultPaymentInstrument: 'PaymentInstrument',
  paymentCard: 'PaymentInstrument',
  leadSource: 'MarketingSource',
  'Customer.leadSource': 'LeadSource',
  bankAccount: null,
  shippingRate: null,
}
const LISTS = ['invoices', 'childTransactions']
const SHARED: Readonly<Record<string, TSchema>> = { MarketingSource: LeadSource }

function embeddedSchema(
  owner: string,
  name: string,
  resources: ReadonlyMap<string, TSchema>,
  components: Components,
): JsonSchema {
  const own = EMBEDDED[`${owner}.${name}`] ?? EMBEDDED[name]
  if (own === null) return { description: 'Not supported yet: always null.' }
  const component = own ?? pascal(name)
  const resource = resources.get(component) ?? SHARED[component]
  if (resource === undefined) throw new Error(`No schema is known of ${name} embedded in ${owner}.`)
  const ref = components.refTo(resource, 'embedded')
  return LISTS.includes(name) ? { type: 'array', items: ref } : orNull(ref)
}

const SECURITY: Readonly<Record<KeyForm, Record<string, string[]>[]>> = {
  secret: [{ secretKey: [] }],
  publishable: [{ publishableKey: [] }],
  customer: [{ customerToken: [] }],
}

function idOf(schema: object): string {
  return '$id' in schema ? String(schema.$id) : 'Unnamed'
}
