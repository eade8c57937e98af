import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Temporal } from 'temporal-polyfill'
import { createBodyValidator } from '../../api/http/validation.ts'
import { ROUTES } from '../../api/routes.ts'
import { bodySchema } from '../../api/schemas/body-and-response.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { disputeBody, externalSale } from '../support/dispute.ts'
import { expectProblem } from '../support/expect-problem.ts'
import fc from '../support/fast-check.ts'
import { startService, type TestService } from '../support/service.ts'

const EARLIEST = '1970-01-01T00:00:00.000Z'
const LATEST = '9999-12-31T23:59:59.999Z'

const digits = (number: number, length: number) => String(Math.abs(number)).padStart(length, '0')

/** Texts of years -1 to 10001 with any offset, days that do not exist among them. */
const written = fc
  .record({
    year: fc.oneof(
      fc.integer({ min: -1, max: 10_001 }),
      fc.constantFrom(-1, 0, 1, 26, 99, 100, 1969, 1970, 9999, 10_000, 10_001),
    ),
    monthDay: fc.oneof(
      fc.tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 31 })),
      fc.constantFrom<[number, number]>([1, 1], [12, 31]),
    ),
    time: fc.oneof(
      fc.tuple(fc.nat(23), fc.nat(59), fc.nat(59)),
      fc.constantFrom<[number, number, number]>([0, 0, 0], [23, 59, 59]),
    ),
    decimals: fc.oneof(
      fc.constantFrom('', '.0', '.999', '.999999999'),
      fc.nat(999_999).map((n) => `.${n}`),
    ),
    offset: fc.oneof(
      fc.constantFrom('Z', '+00:00', '-00:01', '+00:01', '+23:59', '-23:59'),
      fc
        .tuple(fc.constantFrom('+', '-'), fc.nat(23), fc.nat(59))
        .map(([sign, hours, minutes]) => `${sign}${digits(hours, 2)}:${digits(minutes, 2)}`),
    ),
  })
  .map(({ year, monthDay: [month, day], time, decimals, offset }) => {
    const rest = `-${digits(month, 2)}-${digits(day, 2)}T${time.map((part) => digits(part, 2)).join(':')}${decimals}${offset}`
    return { text: `${year < 0 ? '-' : ''}${digits(year, 4)}${rest}`, instant: instantOf(year, rest) }
  })

/** Another implementation: returns the instant as it must come back, or null if it must be refused. */
function instantOf(year: number, rest: string): string | null {
  if (year < 0 || year > 9999) return null
  try {
    const { epochMilliseconds } = Temporal.Instant.from(`${digits(year, 4)}${rest}`)
    const isInRange = epochMilliseconds >= Date.parse(EARLIEST) && epochMilliseconds <= Date.parse(LATEST)
    return isInRange ? new Date(epochMilliseconds).toISOString() : null
  } catch {
    return null
  }
}

describe('an instant', () => {
  let service: TestService
  let merchant: Catalogue
  let transactionId: string

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
    transactionId = await externalSale(merchant.api, merchant.customerId)
  })
  afterAll(() => service.stop())

  test('of any year and offset comes back as the same instant, or is refused by the name of its field', async () => {
    const { api } = merchant
    const body = disputeBody(transactionId, { status: 'won' })
    const { body: dispute } = await api.post('disputes', body)
    const path = `disputes/${dispute.id}`
    await fc.assert(
      fc.asyncProperty(written, async ({ text, instant }) => {
        const response = await api.put(path, { ...body, deadlineTime: text })
        if (instant === null) {
          expect(expectProblem(response, 422, 'validation-error')).toEqual(['deadlineTime'])
          return
        }
        expect(response).toMatchObject({ status: 200, body: { deadlineTime: instant } })
        expect(await api.get(path)).toMatchObject({ status: 200, body: { deadlineTime: instant } })
        const filter = encodeURIComponent(`deadlineTime:${instant.replaceAll(':', '\\:')}`)
        const listed = await api.get<unknown[]>(`disputes?filter=${filter}`)
        expect(listed).toMatchObject({ status: 200, body: [{ deadlineTime: instant }] })
      }),
      { numRuns: 300 },
    )
    for (const list of ['disputes', 'events']) expect((await api.get(list)).status).toBe(200)
  })

  test('of a filter is read alike: 400 where it is out of range or none', async () => {
    await fc.assert(
      fc.asyncProperty(written, async ({ text, instant }) => {
        const filter = encodeURIComponent(`createdTime:${text.replaceAll(':', '\\:')}..`)
        const response = await merchant.api.get(`disputes?filter=${filter}`)
        if (instant === null) expect(expectProblem(response, 400, 'malformed-request')).toEqual(['filter'])
        else expect(response.status).toBe(200)
      }),
      { numRuns: 300 },
    )
  })

  test.each([
    ['0026-01-15T00:00:00.000Z', 'out-of-range'],
    ['1970-01-01T00:00:00+00:01', 'out-of-range'],
    ['1969-12-31T23:59:59.9999Z', 'out-of-range'],
    ['9999-12-31T23:59:59-00:01', 'out-of-range'],
    ['2026-02-30T00:00:00Z', 'wrong-format'],
    ['2026-01-15T00:00:00', 'wrong-format'],
    ['2026-01-15T24:00:00Z', 'wrong-format'],
    ['2026-06-30T23:59:60Z', 'wrong-format'],
    ['+010000-01-01T00:00:00Z', 'wrong-format'],
    ['Thu, 15 Jan 2026 00:00:00 GMT', 'wrong-format'],
  ])('written %s is refused as %s', async (postedTime, code) => {
    const response = await merchant.api.post('disputes', disputeBody(transactionId, { postedTime }))
    expectProblem(response, 422, 'validation-error')
    expect(response.body.invalidFields).toMatchObject([{ field: 'postedTime', code }])
  })

  test.each([
    '2026-01-15t00:00:00z',
    '2026-01-15 00:00:00Z',
    '2026-01-15T01:00+01:00',
    '2026-01-15T00:00:00.000999Z',
  ])('written %s is read', async (postedTime) => {
    const response = await merchant.api.post('disputes', disputeBody(transactionId, { postedTime }))
    expect(response).toMatchObject({ status: 201, body: { postedTime: '2026-01-15T00:00:00.000Z' } })
  })

  describe('of a record that comes back without its milliseconds is no change:', () => {
    const cut = <T>(body: T): T => JSON.parse(JSON.stringify(body).replaceAll('.123Z"', 'Z"'))
    const isSame = async (path: string) => {
      const { body } = await merchant.api.get(path)
      expect(JSON.stringify(body)).toContain('.123Z"')
      const response = await merchant.api.put(path, cut(body))
      expect({ status: response.status, body: response.body }).toEqual({ status: 200, body })
    }

    test('of a dispute', async () => {
      const times = { postedTime: '2026-01-31T00:00:00.123Z', deadlineTime: '2090-01-31T00:00:00.123Z' }
      const { body } = await merchant.api.post('disputes', disputeBody(transactionId, times))
      await isSame(`disputes/${body.id}`)
    })

    test('of a coupon and its restriction, also as its expiration', async () => {
      const { body } = await merchant.api.post('coupons', {
        discount: { type: 'percent', value: 10 },
        restrictions: [
          { type: 'total-redemptions', quantity: 3 },
          { type: 'paid-by-time', time: '2090-01-31T00:00:00.123Z' },
        ],
        issuedTime: '2026-01-31T00:00:00.123Z',
        expiredTime: '2090-01-31T00:00:00.123Z',
      })
      const path = `coupons/${body.id}`
      await isSame(path)
      const expired = await merchant.api.post(`${path}/expiration`, { expiredTime: '2090-01-31T00:00:00Z' })
      expect(expired.body).toMatchObject({ expiredTime: '2090-01-31T00:00:00.123Z', revision: 1 })
    })

    test('of a tax location', async () => {
      const { api } = await catalogue(service)
      const { body } = await api.get('')
      const settings = {
        ...(body.settings as object),
        taxLocations: [
          { country: 'DE', rate: 19 },
          { country: 'DE', rate: 20, startTime: '2090-01-31T00:00:00.123Z' },
        ],
      }
      const set = await api.put('', { ...body, settings })
      expect(set.status).toBe(200)
      expect(JSON.stringify(set.body)).toContain('.123Z"')
      const again = await api.put('', cut(set.body))
      expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: set.body })
    })

    // Whoever gives a resource an instant that callers can change has to show here, or in a test of its own, that it comes back.
    test('of every other, by the tests of the resource', () => {
      const known = ROUTES.filter(({ method, takesBody }) => takesBody && method === 'PUT').flatMap((route) =>
        allTimesOf(bodySchema(route.body ?? route.resource), []).map(
          (path) => `${route.path} ${path.join('.')}`,
        ),
      )
      expect(known.map((one) => one.trim()).toSorted()).toEqual(
        [
          'coupons/{id} expiredTime',
          'coupons/{id} issuedTime',
          'coupons/{id} restrictions.*.time',
          'credentials/{id} expiredTime',
          'disputes/{id} deadlineTime',
          'disputes/{id} postedTime',
          'invoices/{id} autopayScheduledTime',
          'invoices/{id} dueTime',
          'invoices/{id} items.*.periodEndTime',
          'invoices/{id} items.*.periodStartTime',
          'invoices/{id}/items/{itemId} periodEndTime',
          'invoices/{id}/items/{itemId} periodStartTime',
          'settings.taxLocations.*.startTime',
          'subscription-cancellations/{id} churnTime',
          'subscription-cancellations/{id} lineItems.*.periodEndTime',
          'subscription-cancellations/{id} lineItems.*.periodStartTime',
          'subscription-pauses/{id} effectiveTime',
          'subscription-pauses/{id} endTime',
          'subscriptions/{id} abandonTime',
          'subscriptions/{id} renewalTime',
          'subscriptions/{id} startTime',
          'subscriptions/{id} trial.endTime',
        ].toSorted(),
      )
    })
  })

  test('is bounded in every member of every body that has one', () => {
    const validatorOf = createBodyValidator()
    const members = ROUTES.filter(({ takesBody }) => takesBody).flatMap((route) => {
      const schema = bodySchema(route.body ?? route.resource)
      return timesOf(schema, []).map((path) => ({ path, schema }))
    })
    expect(members.length).toBeGreaterThan(15)
    for (const { path, schema } of members) {
      const found = (text: string) =>
        [
          ...validatorOf(schema)(path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), text)),
        ].filter(({ field }) => field === path.join('.'))
      expect({ path, found: found('0026-01-15T00:00:00Z') }).toMatchObject({
        path,
        found: [{ code: 'out-of-range' }],
      })
      expect({ path, found: found(EARLIEST) }).toEqual({ path, found: [] })
      expect({ path, found: found(LATEST) }).toEqual({ path, found: [] })
    }
  })

  describe('at the end of the range', () => {
    const order = async (members: object = {}) => {
      const response = await merchant.api.post('subscriptions', orderBody(merchant, members))
      expect(response).toMatchObject({ status: 201 })
      return response
    }

    test.each([
      ['start', { startTime: LATEST }],
      ['end of its trial', { trial: { enabled: true, endTime: LATEST } }],
      [
        'late start and the end of its trial',
        { startTime: '9999-12-31T23:59:59.998Z', trial: { enabled: true, endTime: LATEST } },
      ],
      ['abandonment', { startTime: '9999-12-01T00:00:00Z', abandonTime: LATEST }],
      ['delinquency', { delinquencyPeriod: 'P7973Y' }],
      [
        'issue and due times',
        {
          invoiceTimeShift: {
            issueTimeShift: { chronology: 'before', unit: 'year', duration: 100_000 },
            dueTimeShift: { chronology: 'after', unit: 'year', duration: 100_000 },
          },
        },
      ],
      ['period', { recurringInterval: { unit: 'year', length: 1000, limit: null } }],
    ])('an order takes its %s there, and is listed', async (_, members) => {
      const { body } = await order(members)
      expect((await merchant.api.get(`subscriptions/${body.id}`)).status).toBe(200)
      expect((await merchant.api.get(`subscriptions/${body.id}/upcoming-invoice`)).status).toBeLessThan(500)
      expect((await merchant.api.get('subscriptions')).status).toBe(200)
      expect((await merchant.api.get('invoices')).status).toBe(200)
      const later = {
        ...orderBody(merchant, members),
        startTime: '9999-12-31T23:59:59.990Z',
        delinquencyPeriod: 'PT1H',
      }
      expect((await merchant.api.put(`subscriptions/${body.id}`, later)).status).toBeLessThan(500)
      expect((await merchant.api.get('subscriptions')).status).toBe(200)
    })

    test.each([LATEST, '9999-12-31T00:00:00.001Z', '9999-12-30T23:59:59.999Z'])(
      'an invoice can be reissued until %s, and for another time after that',
      async (dueTime) => {
        const { api } = merchant
        const { body } = await order({ delinquencyPeriod: 'PT1H' })
        const path = `subscriptions/${body.id}`
        expect(await api.put(path, { ...body, notes: 'Begun.' })).toMatchObject({ status: 200 })
        const upcoming = await api.post(`${path}/upcoming-invoice/issue`, { dueTime })
        expect(upcoming).toMatchObject({ status: 201, body: { dueTime } })
        for (const id of [body.initialInvoiceId, upcoming.body.id]) {
          const reissued = await api.post(`invoices/${id}/reissue`, { dueTime })
          expect(reissued).toMatchObject({ status: 201, body: { dueTime, status: 'unpaid' } })
        }
        expect(await api.put(path, { ...body, notes: 'Goes on.' })).toMatchObject({ status: 200 })
        for (const list of [path, 'subscriptions', 'invoices', 'events', `${path}/timeline`]) {
          expect({ list, status: (await api.get(list)).status }).toEqual({ list, status: 200 })
        }
        for (const id of [body.initialInvoiceId, upcoming.body.id]) {
          expect(await api.post(`invoices/${id}/reissue`, {})).toMatchObject({ status: 201 })
        }
      },
    )

    test('a boundary can be moved there, the order paused until then, and resumed', async () => {
      const { api } = merchant
      const { body } = await order({ delinquencyPeriod: 'P1D' })
      const path = `subscriptions/${body.id}`
      const { headers, body: current } = await api.get(path)
      const moved = await api.put(
        path,
        { ...current, renewalTime: LATEST },
        { 'If-Match': String(headers.get('etag')) },
      )
      expect(moved).toMatchObject({ status: 200 })
      const pause = await api.post('subscription-pauses', { subscriptionId: body.id, endTime: LATEST })
      expect(pause).toMatchObject({ status: 201, body: { endTime: LATEST } })
      expect((await api.delete(`subscription-pauses/${pause.body.id}`)).status).toBe(204)
      const cancellation = { subscriptionId: body.id, churnTime: LATEST }
      expect(await api.post('subscription-cancellations', cancellation)).toMatchObject({
        status: 201,
        body: { churnTime: LATEST },
      })
      for (const list of [
        'subscriptions',
        'subscription-pauses',
        'subscription-cancellations',
        'events',
        'invoices',
      ]) {
        expect({ list, status: (await api.get(list)).status }).toEqual({ list, status: 200 })
      }
    })
  })
})

interface Schema {
  readonly format?: string
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
}

function timesOf({ format, properties = {} }: Schema, path: readonly string[]): string[][] {
  return [
    ...(format === 'date-time' ? [[...path]] : []),
    ...Object.entries(properties).flatMap(([name, member]) => timesOf(member, [...path, name])),
  ]
}

/** As `timesOf`, in lists and variants too. */
function allTimesOf(schema: Schema, path: readonly string[]): string[][] {
  const { format, properties = {}, items, anyOf = [], oneOf = [] } = schema
  const found = [
    ...(format === 'date-time' ? [[...path]] : []),
    ...Object.entries(properties).flatMap(([name, member]) => allTimesOf(member, [...path, name])),
    ...(items === undefined ? [] : allTimesOf(items, [...path, '*'])),
    ...[...anyOf, ...oneOf].flatMap((one) => allTimesOf(one, path)),
  ]
  return [...new Map(found.map((one) => [one.join('.'), one])).values()]
}
