/** A body of 552 KB once had a response of 489 MB and stopped the process for ten seconds. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { MOST_FIELDS } from '../../api/http/invalid-fields.ts'
import { requireNoInvalidFields } from '../../api/http/problems.ts'
import type { InvalidField } from '../../billing/errors.ts'
import { type ApiClient, apiClient } from '../support/api-client.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'
import { tokenBody } from '../support/tokens.ts'

/** Milliseconds, on a loaded machine; an idle one takes a twentieth of that. */
const QUICK = 8_000
const LARGEST = 64 * 1024
const STORED = 16 * 1024

interface Refusal {
  readonly code: string
  readonly detail: string
  readonly invalidFields: readonly { field: string; pointer: string; code: string; message: string }[]
}

const many = <T>(length: number, item: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => item(index))
const members = (number: number, name: (index: number) => string) =>
  Object.fromEntries(many(number, (index) => [name(index), 1]))

test('the failing fields of a body are found no further than they are listed', () => {
  let found = 0
  function* failing(): Generator<InvalidField> {
    for (;;) {
      found += 1
      yield { field: `m${found}`, code: 'unknown-member', message: 'is not a supported member' }
    }
  }
  expect(() => requireNoInvalidFields('validation-error', failing())).toThrow('m1 is not a supported member')
  expect(found).toBe(MOST_FIELDS + 1)
  expect(() => requireNoInvalidFields('validation-error', [])).not.toThrow()
})

describe('a refusal', () => {
  let service: TestService
  let merchant: Catalogue
  let browser: ApiClient

  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await catalogue(service)
    browser = apiClient(service.baseUrl, merchant.organizationId, { Authorization: merchant.publishableKey })
  })
  afterAll(() => service.stop())

  /** Asserts that the response is bounded, and that the process responded to others meanwhile. */
  async function refused(api: ApiClient, path: string, text: string): Promise<Refusal> {
    expect(text.length).toBeLessThan(1024 * 1024)
    const started = performance.now()
    const headers = { 'Content-Type': 'application/json' }
    const [response] = await Promise.all([
      api.send<Refusal>('POST', path, { body: text, headers }),
      fetch(`${service.baseUrl}/status`),
    ])
    expect(performance.now() - started).toBeLessThan(QUICK)
    expect({ status: response.status, code: response.body.code }).toEqual({
      status: 422,
      code: 'validation-error',
    })
    expect(Buffer.byteLength(JSON.stringify(response.body))).toBeLessThanOrEqual(LARGEST)
    const { invalidFields } = response.body
    expect(invalidFields.length).toBeGreaterThan(0)
    expect(invalidFields.length).toBeLessThanOrEqual(100)
    for (const { field, pointer, message } of invalidFields) {
      for (const part of [field, pointer, message]) expect(part.length).toBeLessThanOrEqual(500)
    }
    return response.body
  }

  const LONG = 'n'.repeat(250_000)
  const token = (changes: object) => JSON.stringify({ ...tokenBody(), ...changes })

  test.each<[string, () => string, string, number]>([
    ['70,000 unknown members', () => token(members(70_000, (index) => `m${index}`)), 'unknown-member', 100],
    [
      '70,000 unknown members of a member',
      () => token({ leadSource: members(70_000, (index) => `m${index}`) }),
      'unknown-member',
      100,
    ],
    [
      '100,000 wrong items of an array of at most 20',
      () => token({ billingAddress: { emails: many(100_000, () => 1) } }),
      'too-many',
      1,
    ],
    [
      'a name of 250,000 characters, and 50,000 wrong texts below it',
      () => token({ [LONG]: many(50_000, () => '\u0000') }),
      'wrong-format',
      50,
    ],
    [
      'sixty names of 5,000 characters of three bytes each',
      () => token(members(60, (index) => `${index}${'€'.repeat(5_000)}`)),
      'unknown-member',
      15,
    ],
  ])('of %s, with a publishable key, is small and quick', async (_, body, code, least) => {
    const { invalidFields } = await refused(browser, 'tokens', body())
    expect(new Set(invalidFields.map((field) => field.code))).toEqual(new Set([code]))
    expect(invalidFields.length).toBeGreaterThanOrEqual(least)
  })

  test.each<[string, string, () => string, string]>([
    [
      '100,000 event types',
      'webhooks',
      () => `{"url":"https://a.example","eventsFilter":[${'"a",'.repeat(99_999)}"b"]}`,
      'too-many',
    ],
    [
      '500 event types that are none',
      'webhooks',
      () =>
        JSON.stringify({ url: 'https://a.example', eventsFilter: many(500, (index) => `No event ${index}`) }),
      'wrong-format',
    ],
    [
      '100,000 permissions that are none',
      'api-keys',
      () =>
        JSON.stringify({ description: 'x', acl: many(100, () => ({ permissions: many(1000, () => 'x') })) }),
      'wrong-format',
    ],
    [
      '70,000 custom fields',
      'websites',
      () => JSON.stringify({ name: 'W', customFields: members(70_000, (index) => `m${index}`) }),
      'too-many',
    ],
    [
      '40,000 numbers that no double keeps',
      'websites',
      () => `{"name":"W","customFields":{"a":[${'12345678901234567890,'.repeat(40_000)}1]}}`,
      'too-precise',
    ],
    [
      'half a million brackets',
      'websites',
      () => `{"name":"W","customFields":${'['.repeat(500_000)}${']'.repeat(500_000)}}`,
      'too-deep',
    ],
  ])('of %s is small and quick', async (_, path, body, code) => {
    const { invalidFields } = await refused(merchant.api, path, body())
    expect(new Set(invalidFields.map((field) => field.code))).toEqual(new Set([code]))
  })

  test('is stored for its Idempotency-Key only while it is small', async () => {
    const stored = async (key: string, body: object) => {
      const { status } = await merchant.api.post('websites', body, { 'Idempotency-Key': key })
      expect(status).toBe(422)
      const rows = await service.database.orm.em
        .fork()
        .getConnection()
        .execute('select 1 from idempotency_records where key = ?', [key])
      return rows.length
    }
    expect(await stored('small', { name: 'W', typo: 1 })).toBe(1)
    const large = members(100, (index) => `${index}${'x'.repeat(STORED / 100)}`)
    expect(await stored('large', { name: 'W', ...large })).toBe(0)
    expect(await stored('large', { name: 'W', ...large })).toBe(0)
  })
})
