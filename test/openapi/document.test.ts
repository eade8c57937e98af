import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { PROBLEMS } from '../../api/http/problems.ts'
import type { JsonSchema } from '../../api/openapi/schemas.ts'
import { openApiDocument } from '../../api/openapi.ts'
import { fullPath, ROUTES } from '../../api/routes.ts'
import { responseSchema } from '../../api/schemas/body-and-response.ts'
import { EMITTED_EVENTS } from '../../billing/event-types.ts'
import { sampleEvent } from '../../delivery/sample-event.ts'

type SpecData = Record<string, unknown>
interface Parameter {
  readonly $ref?: string
  readonly name?: string
  readonly in?: string
  readonly style?: string
  readonly explode?: boolean
  readonly schema?: JsonSchema
}
interface Content {
  readonly schema: JsonSchema
  readonly example?: unknown
  readonly examples?: Record<string, { $ref?: string; value?: unknown }>
}
interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: string[]
  readonly deprecated?: boolean
  readonly parameters?: Parameter[]
  readonly requestBody?: { content: Record<string, Content> }
  readonly responses: Record<string, { $ref?: string; headers?: object; content?: Record<string, Content> }>
}
interface Document {
  readonly info: { license: object }
  readonly tags: { name: string; description: string }[]
  readonly paths: Record<string, Record<string, Operation>>
  readonly webhooks: Record<string, { post: Operation }>
  readonly components: {
    readonly schemas: Record<string, JsonSchema>
    readonly examples: Record<string, { value: unknown }>
    readonly responses: Record<string, { headers: object; content: Record<string, Content> }>
    readonly parameters: Record<string, Parameter>
  }
}

const text = JSON.stringify(openApiDocument('https://billing.example', ROUTES))
const document = JSON.parse(text) as Document
const { schemas } = document.components
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)
const find = (operationId: string): Operation => {
  const found = operations.find(({ operation }) => operation.operationId === operationId)
  if (found === undefined) throw new Error(`no operation ${operationId}`)
  return found.operation
}

const EVERYWHERE = { oneOf: true, anyOf: true, allOf: true }
function* schemasIn(schema: JsonSchema, place: string): Generator<{ place: string; schema: JsonSchema }> {
  yield { place, schema }
  for (const [name, member] of Object.entries(schema.properties ?? {}))
    yield* schemasIn(member, `${place}.${name}`)
  if (schema.items !== undefined) yield* schemasIn(schema.items, `${place}[]`)
  if (typeof schema.additionalProperties === 'object')
    yield* schemasIn(schema.additionalProperties, `${place}{}`)
  for (const keyword of Object.keys(EVERYWHERE)) {
    const parts = schema[keyword]
    if (Array.isArray(parts)) for (const part of parts) yield* schemasIn(part as JsonSchema, `${place}|`)
  }
}
const all = Object.entries(schemas).flatMap(([name, schema]) => [...schemasIn(schema, name)])
const typesOf = ({ type }: JsonSchema) => [type ?? []].flat()

/** The standard output of a program of this repository that reads `openapi.json`; it may exit with any status. */
function outputOver(content: string, ...args: string[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'billing-openapi-'))
  try {
    writeFileSync(join(directory, 'openapi.json'), content)
    return execFileSync(process.execPath, args, {
      cwd: directory,
      encoding: 'utf8',
      maxBuffer: 1e8,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    })
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function redocly(content: string): string[] {
  const cli = join(process.cwd(), 'node_modules/@redocly/cli/bin/cli.js')
  const output = outputOver(content, cli, 'lint', 'openapi.json', '--extends=recommended', '--format=json')
  const { problems } = JSON.parse(output.slice(output.indexOf('{'))) as {
    problems: { ruleId: string; message: string }[]
  }
  return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)
}

function spectral(content: string): string[] {
  const output = outputOver(content, join(process.cwd(), 'test/openapi/spectral.ts'), 'openapi.json')
  const results = JSON.parse(output) as { code: string; message: string; path: string[] }[]
  return results.map(({ code, message, path }) => `${code}: ${path.join('.')}: ${message}`)
}

describe('the document is valid', () => {
  test('by the meta-schema of OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(text) as SpecData)
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined })
    const broken = { ...(JSON.parse(text) as SpecData), info: { title: 'no version' } }
    expect((await new Validator().validate(broken)).valid).toBe(false)
  })

  test("by Redocly's recommended rules, without a warning", () => {
    expect(redocly(text)).toEqual([])
  })

  test('and Redocly sees a document that is not', () => {
    const broken = JSON.parse(text) as { paths: Record<string, Record<string, { operationId?: string }>> }
    delete broken.paths['/organizations/{organizationId}/customers']?.get?.operationId
    expect(redocly(JSON.stringify(broken)).join()).toContain('operation-operationId')
  })

  test("by Spectral's rules for OpenAPI, without a warning", () => {
    expect(spectral(text)).toEqual([])
  }, 300_000)

  test('and Spectral sees a document that is not', () => {
    const path = '/organizations/{organizationId}/customers'
    const customers = structuredClone(document.paths[path])
    Object.assign(customers?.get ?? {}, { operationId: customers?.post?.operationId })
    const broken = JSON.stringify({ ...document, paths: { [path]: customers }, webhooks: {} })
    expect(spectral(broken)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^operation-operationId-unique: /),
        expect.stringMatching(/^oas3-unused-component: /),
      ]),
    )
  })
})

describe('every operation', () => {
  test('of the route table is there, and the paths of the host', () => {
    const ids = operations.filter(({ path }) => path.startsWith('/organizations'))
    expect(ids.map(({ operation }) => operation.operationId).sort()).toEqual(
      [...ROUTES.map(({ operationId }) => operationId), 'GetOrganizationStatus'].sort(),
    )
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining([
        '/status',
        '/healthz',
        '/readyz',
        '/.well-known/keys',
        '/openapi.json',
        '/docs',
      ]),
    )
  })

  test('has a summary, a description and one described tag', () => {
    const described = new Set(
      document.tags.filter(({ description }) => description !== '').map(({ name }) => name),
    )
    for (const { operation } of operations) {
      expect(operation.summary).not.toBe('')
      expect(operation.description).not.toBe('')
      expect(operation.tags.map((tag) => described.has(tag))).toEqual([true])
    }
  })

  test('has problems of its own, and none for whatever else happens', () => {
    for (const { operation } of operations) expect(Object.keys(operation.responses)).not.toContain('default')
    const statuses = (id: string) =>
      Object.keys(find(id).responses)
        .filter((status) => Number(status) >= 400)
        .map(Number)
    expect(statuses('GetCustomerCollection')).toEqual([400, 401, 403, 429, 500, 503])
    expect(statuses('GetCustomer')).toEqual([400, 401, 403, 404, 429, 500, 503])
    expect(statuses('PostWebsite')).toEqual([400, 401, 403, 409, 413, 415, 422, 429, 500, 503])
    expect(statuses('PutWebsite')).toEqual([400, 401, 403, 409, 412, 413, 415, 422, 429, 500, 503])
    expect(statuses('DeleteWebsite')).toEqual([400, 401, 403, 404, 409, 412, 429, 500, 503])
    expect(statuses('PostDigitalWalletValidation')).toContain(502)
    expect(statuses('PostSubscriptionFastForward')).toContain(501)
  })

  test('has each problem as a schema of its own', () => {
    for (const [name, { content }] of Object.entries(document.components.responses)) {
      const schema = content['application/problem+json']?.schema
      const refs = schema?.oneOf?.map(({ $ref }) => $ref) ?? [schema?.$ref]
      if (name === 'Refused') expect(refs).toEqual(['#/components/schemas/Problem'])
      else for (const ref of refs) expect(ref).toMatch(/^#\/components\/schemas\/\w+Problem$/)
    }
    expect(schemas.NotFoundProblem?.properties?.code?.enum).toEqual(['not-found'])
    expect(schemas.Problem?.properties?.code?.enum).toEqual(Object.keys(PROBLEMS))
  })

  test('that replaces says what happens to missing members, and responds with 200 or 201', () => {
    const { description, responses } = find('PutCustomer')
    expect(description).toContain(
      'an optional member that is missing returns to its default, and null clears it',
    )
    expect(Object.keys(responses).slice(0, 2)).toEqual(['200', '201'])
  })
})

describe('parameters and headers', () => {
  const names = (operationId: string) =>
    (find(operationId).parameters ?? []).map(({ $ref, name }) => name ?? $ref?.split('/').at(-1))
  const headers = (operationId: string, status: number) =>
    Object.keys(find(operationId).responses[status]?.headers ?? {})

  test('of preconditions and repetitions', () => {
    expect(names('PutCustomer')).toEqual(expect.arrayContaining(['IfMatch', 'CreateOnly']))
    expect(names('DeleteCustomer')).toEqual(expect.arrayContaining(['IfMatch']))
    expect(names('GetCustomer')).toEqual(expect.arrayContaining(['IfNoneMatch']))
    expect(names('PostCustomer')).toEqual(expect.arrayContaining(['IdempotencyKey']))
    expect(names('GetSubscriptionUpcomingInvoice')).not.toContain('IfNoneMatch')
    expect(Object.keys(find('GetCustomer').responses)).toContain('304')
  })

  test('of paging, the rate limit and the request', () => {
    const paging = ['Link', 'Pagination-Total', 'Pagination-Limit', 'Pagination-Offset']
    const rate = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'RateLimit-Policy', 'RateLimit']
    expect(headers('GetCustomerCollection', 200)).toEqual(['Request-Id', ...paging])
    expect(headers('PostCustomer', 201)).toEqual(
      expect.arrayContaining(['Request-Id', 'Location', 'ETag', 'Idempotency-Replayed', ...rate]),
    )
    const { TooManyRequests, ServiceUnavailable } = document.components.responses
    expect(Object.keys(TooManyRequests?.headers ?? {})).toEqual(
      expect.arrayContaining(['X-RateLimit-Retry-After', 'Retry-After']),
    )
    expect(Object.keys(ServiceUnavailable?.headers ?? {})).toContain('Retry-After')
  })

  test('that are lists are arrays of their values, separated by commas', () => {
    const query = find('GetSubscriptionCollection').parameters ?? []
    for (const name of ['sort', 'expand', 'fields']) {
      const parameter = query.find((one) => one.name === name)
      expect(parameter).toMatchObject({
        in: 'query',
        style: 'form',
        explode: false,
        schema: { type: 'array' },
      })
      expect(parameter?.schema?.items?.enum?.length).toBeGreaterThan(5)
    }
    expect(query.find(({ name }) => name === 'sort')?.schema?.items?.enum).toEqual(
      expect.arrayContaining(['createdTime', '-createdTime']),
    )
  })

  test('that are ids have the pattern of ids', () => {
    // The value of a password token is its name.
    for (const { path, operation } of operations)
      for (const { name, in: place, schema } of operation.parameters ?? [])
        if (place === 'path' && name?.toLowerCase().endsWith('id') && !path.includes('/password-tokens/'))
          expect(schema).toMatchObject({ pattern: '^[A-Za-z0-9_@~.-]{1,50}$', maxLength: 50 })
  })
})

describe('the schemas', () => {
  test('say double of numbers, a type beside values, and no default of an object', () => {
    const of = (predicate: (schema: JsonSchema) => boolean) =>
      all.filter(({ schema }) => predicate(schema)).map(({ place }) => place)
    expect(all.filter(({ schema }) => typesOf(schema).includes('number')).length).toBeGreaterThan(20)
    expect(of((schema) => typesOf(schema).includes('number') && schema.format !== 'double')).toEqual([])
    expect(of((schema) => schema.enum !== undefined && schema.type === undefined)).toEqual([])
    expect(of(({ default: value }) => typeof value === 'object' && !Array.isArray(value))).toEqual([])
    expect(of((schema) => Object.keys(schema).some((keyword) => keyword.startsWith('x-')))).toEqual([])
  })

  test('say nothing that generators cannot compile: of enumerations, of null alone, of two types', () => {
    const of = (predicate: (schema: JsonSchema) => boolean) =>
      all.filter(({ schema }) => predicate(schema)).map(({ place }) => place)
    expect(of((schema) => schema.enum !== undefined && schema.default !== undefined)).toEqual([])
    expect(of((schema) => schema.items?.enum !== undefined && schema.uniqueItems === true)).toEqual([])
    expect(of((schema) => typesOf(schema).filter((type) => type !== 'null').length > 1)).toEqual([])
    const nulls = of((schema) => typesOf(schema).join() === 'null')
    expect(nulls.filter((place) => !place.endsWith('|'))).toEqual([])
    expect(document.info.license).toHaveProperty('identifier')
    expect(schemas.WebhookBody?.properties?.method?.description).toContain('Default: `POST`.')
  })

  test('name every object that has members, and refer to it', () => {
    const inline = all.filter(
      ({ place, schema }) =>
        schema.properties !== undefined && /[.[{|]/.test(place) && !/^\w+Event\._embedded$/.test(place),
    )
    expect(inline.map(({ place }) => place)).toEqual([])
    expect(schemas.Subscription?.properties?.billingAddress).toEqual({
      oneOf: [{ $ref: '#/components/schemas/Contact' }, { type: 'null' }],
    })
    expect(schemas.CustomerBody?.properties?.primaryAddress).toEqual({
      oneOf: [{ $ref: '#/components/schemas/ContactBody' }, { type: 'null' }],
    })
  })

  test('of bodies accept null for every optional member, and have no read-only one', () => {
    const bodies = new Set(
      operations.flatMap(({ operation }) => {
        const ref = operation.requestBody?.content['application/json']?.schema.$ref
        return ref === undefined ? [] : [ref.split('/').at(-1) ?? '']
      }),
    )
    expect(bodies.size).toBeGreaterThan(15)
    for (const name of bodies) {
      const { properties = {}, required = [] } = schemas[name] ?? {}
      for (const [member, schema] of Object.entries(properties)) {
        if (required.includes(member)) continue
        const accepts = typesOf(schema).includes('null') || schema.oneOf?.some(({ type }) => type === 'null')
        expect(`${name}.${member} ${accepts || schema.type === undefined}`).toBe(`${name}.${member} true`)
      }
      expect(Object.keys(properties)).not.toContain('createdTime')
    }
  })

  test('show variants as unions with the member that decides', () => {
    expect(schemas.Pricing).toMatchObject({
      discriminator: {
        propertyName: 'formula',
        mapping: {
          'fixed-fee': '#/components/schemas/FixedFeePricing',
          tiered: '#/components/schemas/TieredPricing',
        },
      },
    })
    expect(schemas.FixedFeePricing?.required).toEqual(['formula', 'price'])
    expect(schemas.FixedFeePricing?.properties?.formula?.enum).toEqual(['fixed-fee'])
    expect(Object.keys(schemas.TieredPricing?.properties ?? {})).toEqual([
      'formula',
      'brackets',
      'minQuantity',
    ])
    expect(schemas.WebhookAuthBody?.discriminator?.propertyName).toBe('type')
    expect(schemas.BasicWebhookAuth?.properties?.password).toBeUndefined()
    expect(schemas.Plan?.oneOf).toHaveLength(3)
    expect(schemas.SubscriptionPlan?.properties?.recurringInterval).toEqual({
      $ref: '#/components/schemas/RecurringInterval',
    })
    expect(schemas.PaymentInstruction?.oneOf).toHaveLength(3)
  })

  test('describe what expand embeds, what is deprecated and what is not supported yet', () => {
    expect(Object.keys(schemas.SubscriptionEmbedded?.properties ?? {})).toEqual(
      expect.arrayContaining(['customer', 'website', 'recentInvoice', 'upcomingInvoice']),
    )
    expect(schemas.Subscription?.properties?._embedded).toEqual({
      $ref: '#/components/schemas/SubscriptionEmbedded',
    })
    expect(schemas.SubscriptionItem?.properties?.planId?.deprecated).toBe(true)
    expect(schemas.Product?.properties?.accountingCode?.description).toContain('Not supported yet')
    expect(schemas.ProductBody?.properties?.accountingCode?.description).toContain('Not supported yet')
  })

  test('of responses have the members that responses have', () => {
    for (const { resource } of ROUTES) {
      const shown = responseSchema(resource) as JsonSchema
      const documented = schemas[shown.$id ?? '']
      if (documented?.properties === undefined) continue
      const { _embedded: _, ...members } = documented.properties
      const { _embedded: __, ...expected } = shown.properties ?? {}
      expect(Object.keys(members)).toEqual(Object.keys(expected))
      expect(documented.required).toEqual(shown.required)
    }
  })
})

describe('examples', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: fullFormats })
  ajv.addSchema({ $id: 'https://examples.test/', components: document.components })
  const problemOf = (schema: JsonSchema, value: unknown): string | null => {
    const absolute = JSON.parse(
      JSON.stringify(schema).replaceAll('"#/', '"https://examples.test/#/'),
    ) as JsonSchema
    const valid = ajv.compile(absolute)
    return valid(value) ? null : ajv.errorsText(valid.errors)
  }
  const contents = [
    ...operations.flatMap(({ operation }) => [
      { at: `${operation.operationId} body`, content: operation.requestBody?.content },
      ...Object.entries(operation.responses).map(([status, { content }]) => ({
        at: `${operation.operationId} ${status}`,
        content,
      })),
    ]),
    ...Object.entries(document.components.responses).map(([at, { content }]) => ({ at, content })),
    ...Object.entries(document.webhooks).map(([at, { post }]) => ({
      at,
      content: post.requestBody?.content,
    })),
  ]
  const examples = contents.flatMap(({ at, content = {} }) =>
    Object.values(content).flatMap(({ schema, example, examples: named = {} }) =>
      [
        ...(example === undefined ? [] : [example]),
        ...Object.values(named).map(({ $ref, value }) =>
          $ref === undefined ? value : document.components.examples[$ref.split('/').at(-1) ?? '']?.value,
        ),
      ].map((value) => ({ at, schema, value })),
    ),
  )

  test('fit their schemas', () => {
    expect(examples.length).toBeGreaterThan(150)
    expect(
      examples.flatMap(({ at, schema, value }) => {
        const problem = problemOf(schema, value)
        return problem === null ? [] : [`${at}: ${problem}`]
      }),
    ).toEqual([])
    expect(problemOf({ $ref: '#/components/schemas/Customer' }, { id: 'cus_1' })).not.toBeNull()
  })

  test('are there for every body and every resource of a response', () => {
    for (const { operation } of operations) {
      const body = operation.requestBody?.content['application/json']
      if (body !== undefined) expect(Object.keys(body.examples ?? {})).not.toEqual([])
      const success = operation.responses[200] ?? operation.responses[201]
      const shown = success?.content?.['application/json']
      if (shown?.schema.$ref !== undefined)
        expect(shown.example ?? Object.keys(shown.examples ?? {})[0]).toBeDefined()
    }
  })

  test('are the same at each start, and at the base URL', () => {
    expect(JSON.stringify(openApiDocument('https://billing.example', ROUTES))).toBe(text)
    const elsewhere = JSON.stringify(openApiDocument('https://sandbox.example', ROUTES))
    expect(elsewhere).toContain('"href":"https://sandbox.example/organizations/')
  })
})

test('the webhooks are the events that the service emits, each with a sample', () => {
  expect(Object.keys(document.webhooks)).toEqual(EMITTED_EVENTS.map(({ type }) => type))
  for (const [type, { post }] of Object.entries(document.webhooks)) {
    const { example } = post.requestBody?.content['application/json'] ?? {}
    expect(example).toMatchObject({ eventType: type, eventId: expect.stringMatching(/^evt_/) })
  }
})

test('the sample that a preview sends has the members of the event', () => {
  for (const [type, { post }] of Object.entries(document.webhooks)) {
    const { $ref = '' } = post.requestBody?.content['application/json']?.schema ?? {}
    const { required, properties } = schemas[$ref.split('/').at(-1) ?? ''] as JsonSchema
    const sample = JSON.parse(sampleEvent(type, new Date()).payload) as Record<string, object>
    expect([type, Object.keys(sample).toSorted()]).toEqual([type, [...(required ?? [])].toSorted()])
    expect([type, Object.keys(sample._embedded ?? {})]).toEqual([type, properties?._embedded?.required])
  }
})

test('a route table of one environment has its own operations', () => {
  const live = ROUTES.filter(({ sandboxOnly = false }) => !sandboxOnly)
  const { paths } = openApiDocument('https://billing.example', live, 'live')
  const path = fullPath({ path: 'subscriptions/{id}/fast-forward' })
  expect([document.paths[path], paths[path]]).toEqual([expect.any(Object), undefined])
})
