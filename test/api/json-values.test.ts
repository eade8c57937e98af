import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Decimal } from 'decimal.js'
import type { ApiResponse } from '../support/api-client.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { expectProblem } from '../support/expect-problem.ts'
import fc from '../support/fast-check.ts'
import { startService, type TestService } from '../support/service.ts'
import { tokenBody } from '../support/tokens.ts'

describe('a value of a body', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const post = (path: string, text: string) =>
    merchant.api.send('POST', path, { body: text, headers: { 'Content-Type': 'application/json' } })
  const website = (customFields: string) => post('websites', `{"name":"W","customFields":${customFields}}`)
  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  const fieldsOf = ({ body }: ApiResponse) => body.invalidFields

  test.each([
    '12345678901234567890',
    '9007199254740993',
    '0.1000000000000000055511151231257827',
    '1e400',
    '-1e400',
    '1e-400',
    '1e-99999999999999999999',
    '123456789.123456789',
  ])('the number %s, which no double keeps, is refused by the path of its field', async (number) => {
    const response = await website(`{"a.b":[1,{"c/d":${number}}]}`)
    expectProblem(response, 422, 'validation-error')
    expect(fieldsOf(response)).toEqual([
      {
        field: 'customFields.a.b.1.c/d',
        pointer: '/customFields/a.b/1/c~1d',
        code: 'too-precise',
        message: expect.any(String),
      },
    ])
  })

  test.each([
    '12345678901234567000',
    '9007199254740992',
    '0.1',
    '1.50000000000000000000',
    '-0.0',
    '0e9999999999999999999',
    '5e-324',
    '1.7976931348623157e308',
    '1E2',
  ])('the number %s comes back', async (number) => {
    const response = await website(`{"a":${number}}`)
    expect(response).toMatchObject({ status: 201 })
    const { body } = await merchant.api.get(`websites/${response.body.id}`)
    expect(body.customFields).toEqual({ a: Number(number) + 0 })
  })

  test.each([
    ['with a line break', 'a\nb'],
    ['with a line separator', 'a\u2028b'],
    ['without one', 'ab'],
  ])('is held to its schema under a name %s', async (_, name) => {
    const riskMetadata = { httpHeaders: { [name]: 7 }, extraData: { [name]: 'x'.repeat(256) } }
    const response = await post('tokens', JSON.stringify(tokenBody(undefined, { riskMetadata })))
    expectProblem(response, 422, 'validation-error')
    expect(fieldsOf(response)).toMatchObject([
      { field: `riskMetadata.httpHeaders.${name}`, code: 'wrong-type' },
      { field: `riskMetadata.extraData.${name}`, code: 'too-long' },
    ])
  })

  test('has a name of at most 255 characters, where names are of the caller', async () => {
    const send = (name: string) =>
      post('tokens', JSON.stringify(tokenBody(undefined, { riskMetadata: { httpHeaders: { [name]: 'x' } } })))
    expect(await send('x'.repeat(255))).toMatchObject({ status: 201 })
    const response = await send('x'.repeat(256))
    expectProblem(response, 422, 'validation-error')
    expect(fieldsOf(response)).toEqual([
      {
        field: 'riskMetadata.httpHeaders',
        pointer: '/riskMetadata/httpHeaders',
        code: 'too-long',
        message: 'each name must have at most 255 characters',
      },
    ])
  })

  test('any number is refused, or comes back as the same', async () => {
    const number = fc
      .tuple(
        fc.constantFrom('', '-'),
        fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 25n }), fc.maxSafeNat().map(BigInt)),
        fc.option(fc.stringMatching(/^\d{1,25}$/)),
        fc.option(fc.integer({ min: -330, max: 320 }), { freq: 3 }),
      )
      .map(
        ([sign, whole, decimals, exponent]) =>
          `${sign}${whole}${decimals === null ? '' : `.${decimals}`}${exponent === null ? '' : `e${exponent}`}`,
      )
    await fc.assert(
      fc.asyncProperty(number, async (text) => {
        const response = await website(`{"a":${text}}`)
        if (response.status === 422) {
          expect(fieldsOf(response)).toMatchObject([{ field: 'customFields.a', code: 'too-precise' }])
          expect(String(Number(text)) === text).toBe(false)
          return
        }
        const { body } = await merchant.api.get<{ customFields: { a: number } }>(
          `websites/${response.body.id}`,
        )
        expect(new Decimal(body.customFields.a).equals(text)).toBe(true)
      }),
      { numRuns: 150 },
    )
  })

  test('a number of a member of our own is read by the same rule', async () => {
    const plan = (price: string) =>
      post('plans', `{"name":"P","currency":"EUR","pricing":{"formula":"fixed-fee","price":${price}}}`)
    const response = await plan('9.990000000000000001')
    expect(expectProblem(response, 422, 'validation-error')).toEqual(['pricing.price'])
    expect(await plan('9.9900000000000000000')).toMatchObject({
      status: 201,
      body: { pricing: { price: 9.99 } },
    })
  })

  test('any custom fields that double-precision numbers and well-formed texts make up come back', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((one) => !one.includes('\u0000'))
    const value = fc.jsonValue({ maxDepth: 5 }).filter((one) => !JSON.stringify(one).includes('\\u0000'))
    await fc.assert(
      fc.asyncProperty(fc.dictionary(text, value), async (customFields) => {
        const sent = JSON.stringify(customFields)
        fc.pre(sent.isWellFormed() && !/\\ud[89a-f]/.test(sent))
        const made = await website(sent)
        expect(made).toMatchObject({ status: 201 })
        const { body } = await merchant.api.get(`websites/${made.body.id}`)
        expect(body.customFields).toEqual(JSON.parse(sent, (_, one) => (Object.is(one, -0) ? 0 : one)))
      }),
      { numRuns: 100 },
    )
  })

  test('may be nested 32 deep, the body and its members counted, and no deeper', async () => {
    expect((await website(nested(31))).status).toBe(201)
    const response = await website(nested(32))
    expectProblem(response, 422, 'validation-error')
    const field = ['customFields', ...Array(31).fill('a')].join('.')
    expect(fieldsOf(response)).toMatchObject([{ field, code: 'too-deep' }])
    const lists = (levels: number) => website(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`)
    expect((await lists(30)).status).toBe(201)
    expect(fieldsOf(await lists(31))).toMatchObject([{ code: 'too-deep' }])
  })

  test('is refused after what comes before it: 404, then 412', async () => {
    const deep = { body: nested(33), headers: { 'Content-Type': 'application/json', 'If-Match': '"9"' } }
    expectProblem(await merchant.api.send('PATCH', 'gateway-accounts/none', deep), 404, 'not-found')
    const { body } = await website('{}')
    expectProblem(await merchant.api.send('PUT', `websites/${body.id}`, deep), 412, 'precondition-failed')
    const unread = { ...deep, headers: { 'Content-Type': 'application/json' } }
    expectProblem(await merchant.api.send('PUT', `websites/${body.id}`, unread), 422, 'validation-error')
  })

  test('custom fields hold 1,000 members, and no more', async () => {
    const members = (number: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: number }, (_, index) => [`m${index}`, index])))
    expect((await website(members(1000))).status).toBe(201)
    const response = await website(members(1001))
    expectProblem(response, 422, 'validation-error')
    expect(fieldsOf(response)).toMatchObject([{ field: 'customFields', code: 'too-many' }])
  })
})
