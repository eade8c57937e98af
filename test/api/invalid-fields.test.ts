import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { EXPLANATIONS, FORMATS, PATTERNS } from '../../api/http/schema-walk.ts'
import { ROUTES } from '../../api/routes.ts'
import { bodySchema } from '../../api/schemas/body-and-response.ts'
import { FIELD_CODES } from '../../billing/errors.ts'
import type { ApiResponse } from '../support/api-client.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { disputeBody, externalSale } from '../support/dispute.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken, tokenBody } from '../support/tokens.ts'

interface Field {
  readonly field: string
  readonly pointer: string
  readonly code: keyof typeof FIELD_CODES
  readonly message: string
}

describe('a failing field', () => {
  let service: TestService
  let merchant: Catalogue
  const seen = new Set<string>()

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  function failing({ body }: ApiResponse): Record<string, string> {
    const { invalidFields, detail } = body as unknown as { invalidFields: Field[]; detail: string }
    for (const { field } of invalidFields.slice(0, 10)) expect(detail).toContain(field)
    for (const { pointer, code, message, field: _, ...rest } of invalidFields) {
      expect(rest).toEqual({})
      expect(Object.keys(FIELD_CODES)).toContain(code)
      expect(pointer).toMatch(/^(?:\/(?:[^~/]|~[01])*)*$/)
      expect(message).toMatch(/^[a-z].*[^.]$/)
      expect(message).not.toMatch(/NOT|must match|\^|\\/)
      seen.add(code)
    }
    return Object.fromEntries(invalidFields.map(({ pointer, code }) => [pointer, code]))
  }
  const post = async (path: string, body: unknown) => failing(await merchant.api.post(path, body))

  test('is named with path, pointer, code and message, all of them at once', async () => {
    const fields = await post('subscriptions', {
      orderType: 'something',
      customerId: 'has space',
      items: [
        { plan: {}, quantity: 0 },
        { quantity: 1.5 },
        { plan: { id: 'x' }, usageLimits: { softLimit: 'many' } },
      ],
      startTime: '2026-01-31T09:00:00',
      notes: 'x'.repeat(1001),
      autopay: 'yes',
      delinquencyPeriod: 'a day',
      billingAddress: { country: 'Germany', emails: [{ value: 'nobody' }], dob: '31.01.1999' },
      'a/b~c': 1,
    })
    expect(fields).toEqual({
      '/websiteId': 'required',
      '/orderType': 'not-one-of',
      '/customerId': 'wrong-format',
      '/items/0/plan/id': 'required',
      '/items/0/quantity': 'out-of-range',
      '/items/1/plan': 'required',
      '/items/1/quantity': 'wrong-type',
      '/items/2/usageLimits/softLimit': 'wrong-type',
      '/startTime': 'wrong-format',
      '/notes': 'too-long',
      '/autopay': 'wrong-type',
      '/delinquencyPeriod': 'wrong-format',
      '/billingAddress/country': 'wrong-format',
      '/billingAddress/emails/0/value': 'wrong-format',
      '/billingAddress/dob': 'wrong-format',
      '/a~1b~0c': 'unknown-member',
    })
  })

  test.each<[string, string, unknown, Record<string, string>]>([
    ['a body that is no object', 'websites', ['x'], { '': 'wrong-type' }],
    ['an empty text', 'websites', { name: '' }, { '/name': 'too-short' }],
    ['an empty list', 'api-keys', { description: 'x', allowedIps: [] }, { '/allowedIps': 'too-few' }],
    ['a list too long', 'api-keys', { description: 'x', acl: Array(101).fill(1) }, { '/acl': 'too-many' }],
    [
      'items that repeat',
      'webhooks',
      { url: 'https://a.example', eventsFilter: ['dispute-created', 'dispute-created'] },
      { '/eventsFilter': 'not-unique' },
    ],
    [
      'a private address',
      'api-keys',
      { description: 'x', allowedIps: ['10.0.0.1'] },
      { '/allowedIps/0': 'not-allowed' },
    ],
    [
      'more decimals than the currency has',
      'plans',
      { name: 'P', currency: 'JPY', pricing: { formula: 'fixed-fee', price: 9.5 } },
      { '/pricing/price': 'too-precise' },
    ],
    [
      'a member of another formula',
      'plans',
      { name: 'P', currency: 'EUR', pricing: { formula: 'tiered', price: 1 } },
      { '/pricing/price': 'not-supported', '/pricing/brackets': 'required' },
    ],
    [
      'an expired card',
      'tokens',
      { ...tokenBody(), paymentInstrument: { expMonth: 1, expYear: 2020 } },
      { '/paymentInstrument/expYear': 'expired' },
    ],
    [
      'a wrong check digit',
      'tokens',
      tokenBody('4111111111111112'),
      { '/paymentInstrument/pan': 'wrong-format' },
    ],
    [
      'an unreachable target',
      'previews/webhooks',
      { url: 'http://127.0.0.1:1/' },
      { '/url': 'not-delivered' },
    ],
  ])('by its code for %s', async (_, path, body, fields) => {
    expect(await post(path, body)).toEqual(fields)
  })

  test('by its code for what it refers to', async () => {
    const { api, customerId } = merchant
    const other = (await api.post('customers', {})).body.id
    const { body: plan } = await api.post('plans', {
      name: 'P',
      currency: 'USD',
      pricing: { formula: 'fixed-fee', price: 1 },
      isActive: false,
    })
    expect(await post('subscriptions', { ...orderBody(merchant), customerId: 'nobody' })).toEqual({
      '/customerId': 'not-found',
    })
    const items = [{ plan: { id: merchant.planId } }, { plan: { id: plan.id } }]
    expect(await post('subscriptions', orderBody(merchant, { items }))).toEqual({
      '/items/1/plan/id': 'mismatch',
    })
    const early = orderBody(merchant, {
      abandonTime: '2020-01-01T00:00:00Z',
      items: [{ plan: { id: plan.id } }],
    })
    expect(await post('subscriptions', early)).toEqual({
      '/abandonTime': 'in-the-past',
      '/items/0/plan/id': 'inactive',
    })
    const used = await makeToken(api)
    await api.post('payment-instruments', { customerId, token: used })
    expect(await post('payment-instruments', { customerId: other, token: used })).toEqual({
      '/token': 'used',
    })
    const sale = await externalSale(api, customerId)
    const refund = { type: 'refund', parentTransactionId: sale, amount: 51, currency: 'USD' }
    expect(await post('transactions', refund)).toEqual({ '/amount': 'out-of-range', '/currency': 'mismatch' })
    expect(await post('disputes', disputeBody('none'))).toEqual({ '/transactionId': 'not-found' })
  })

  test('of the query by its parameter', async () => {
    const { api } = merchant
    const get = async (query: string) => {
      const response = await api.get(`subscriptions?${query}`)
      expectProblem(response, 400, 'malformed-request')
      return failing(response)
    }
    expect(await get('limit=many&offset=1001&colour=red')).toEqual({
      '/limit': 'wrong-type',
      '/offset': 'out-of-range',
      '/colour': 'unknown-member',
    })
    expect(await get('sort=colour&filter=colour:red')).toEqual({
      '/sort': 'not-one-of',
      '/filter': 'not-one-of',
    })
    expect(await get('filter=createdTime:today')).toEqual({ '/filter': 'wrong-format' })
    expect(await get('expand=nothing')).toEqual({ '/expand': 'not-one-of' })
  })

  test('repeats no card number that a name contains, nor a part of it at its end', async () => {
    const { approves } = TEST_CARDS
    for (const before of [0, 485, 490, 495, 499]) {
      const name = `${'x'.repeat(before)} ${approves}`
      const { body } = await merchant.api.post('websites', { name: 'W', [name]: 1 })
      const text = JSON.stringify(body)
      expect(text).toContain(before < 480 ? '[card number]' : 'xxx')
      expect(text).not.toMatch(/ 4111/)
    }
  })

  test('was named by most of the codes', () => {
    const missing = Object.keys(FIELD_CODES).filter((code) => !seen.has(code))
    expect(missing).toEqual(['too-deep'])
  })
})

describe('the schemas of bodies and queries', () => {
  const keywords = new Set<string>()
  const formats = new Set<string>()
  const patterns = new Set<string>()
  const unbounded: string[] = []

  const visit = (schema: unknown, path: string): void => {
    if (typeof schema !== 'object' || schema === null) return
    const { type, format, pattern, properties = {}, patternProperties = {}, ...rest } = schema as Schema
    for (const keyword of Object.keys(schema)) keywords.add(keyword)
    if (format !== undefined) formats.add(format)
    if (pattern !== undefined) patterns.add(pattern)
    if ([type].flat().includes('array') && rest.maxItems === undefined) unbounded.push(path)
    for (const [name, member] of Object.entries(properties)) visit(member, `${path}.${name}`)
    for (const member of Object.values(patternProperties)) visit(member, `${path}.*`)
    for (const keyword of ['items', 'if', 'then', 'not', 'additionalProperties', 'propertyNames']) {
      visit(rest[keyword], `${path}.${keyword}`)
    }
  }
  for (const route of ROUTES) {
    if (route.takesBody) visit(bodySchema(route.body ?? route.resource), route.operationId)
    visit(route.query, `${route.operationId}?`)
  }

  test('bound every array', () => {
    expect(keywords).toContain('maxItems')
    expect(unbounded).toEqual([])
  })

  test('have no keyword, format or pattern whose failure is not explained', () => {
    /** Keywords that cannot fail, and those that the walk follows itself. */
    const silent = [
      ...[
        '$id',
        'description',
        'default',
        'examples',
        'readOnly',
        'writeOnly',
        'title',
        'x-absent-when-unknown',
        'x-read-only-values',
        'x-list-of',
        'x-variants',
        'x-withheld',
      ],
      ...['properties', 'patternProperties', 'additionalProperties', 'propertyNames', 'items'],
      ...['if', 'then', 'else', 'not'],
    ]
    expect(
      [...keywords].filter((keyword) => !(keyword in EXPLANATIONS) && !silent.includes(keyword)),
    ).toEqual([])
    expect([...formats].filter((format) => !(format in FORMATS))).toEqual([])
    expect([...patterns].filter((pattern) => !(pattern in PATTERNS))).toEqual([])
  })
})

interface Schema {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly pattern?: string
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, unknown>>
  readonly patternProperties?: Readonly<Record<string, unknown>>
  readonly [keyword: string]: unknown
}
