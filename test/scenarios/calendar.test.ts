import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'
import { DAY, makePlan, placeOrder } from './story.ts'

const HOUR = 3_600_000
const JANUARY = 0
const FEBRUARY = 1
const DECEMBER = 11
/** How far ahead of real time a clock can be moved, with room for the test itself. */
const HORIZON = 5 * 365 * DAY - DAY

/** A period as plans write it, and the beginning of its n-th repetition, worked out by hand. */
const PERIODS = {
  weekly: { unit: 'week', length: 1, count: 6 },
  monthly: { unit: 'month', length: 1, count: 13 },
  quarterly: { unit: 'month', length: 3, count: 5 },
  yearly: { unit: 'year', length: 1, count: 3 },
} as const
type Period = (typeof PERIODS)[keyof typeof PERIODS]

function boundary(start: number, { unit, length }: Period, n: number): number {
  if (unit === 'week') return start + n * length * 7 * DAY
  const at = new Date(start)
  const months = at.getUTCMonth() + n * length * (unit === 'year' ? 12 : 1)
  const lastDay = new Date(Date.UTC(at.getUTCFullYear(), months + 1, 0)).getUTCDate()
  return Date.UTC(at.getUTCFullYear(), months, Math.min(at.getUTCDate(), lastDay), at.getUTCHours())
}

/** Ten in the morning of the next day of that name, at least a day ahead. */
function next(month: number, day: number): number {
  for (let year = new Date().getUTCFullYear(); ; year += 1) {
    const found = Date.UTC(year, month, day, 10)
    if (new Date(found).getUTCDate() === day && found > Date.now() + DAY) return found
  }
}

describe('an order on the calendar', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const plan = ({ unit, length }: Period) => makePlan(merchant, { recurringInterval: { unit, length } })
  const time = (value: unknown) => Date.parse(String(value))

  test.each([
    ['28 January', JANUARY, 28],
    ['29 January', JANUARY, 29],
    ['30 January', JANUARY, 30],
    ['31 January', JANUARY, 31],
    ['29 February', FEBRUARY, 29],
    ['31 December', DECEMBER, 31],
  ])(
    'that starts on %s is billed weekly, monthly, quarterly and yearly on the days of its start',
    async (_, month, day) => {
      const start = next(month, day)
      await Promise.all(
        Object.values(PERIODS).map(async (period) => {
          const startTime = new Date(start).toISOString()
          const story = await placeOrder(service, merchant, await plan(period), { startTime })
          let last: number = period.count - 1
          while (boundary(start, period, last) > Date.now() + HORIZON) last -= 1
          const order = await story.forwardTo(boundary(start, period, last) + HOUR)
          const expected = Array.from({ length: last + 1 }, (_, n) => boundary(start, period, n))
          expect(order).toMatchObject({ status: 'active', activationTime: startTime, rebillNumber: last + 1 })
          expect(time(order.renewalTime)).toBe(boundary(start, period, last + 1))
          const invoices = await story.invoices()
          expect(invoices.map(({ periodStart }) => time(periodStart))).toEqual(expected)
          expect(invoices.map(({ periodNumber }) => periodNumber)).toEqual(expected.map((_, n) => n + 1))
        }),
      )
    },
    180_000,
  )

  test('the last of January, worked out by hand: the end of February, and the 31st again in March', () => {
    const start = Date.UTC(2027, JANUARY, 31, 10)
    const days = [0, 1, 2, 3, 13].map((n) =>
      new Date(boundary(start, PERIODS.monthly, n)).toISOString().slice(0, 10),
    )
    expect(days).toEqual(['2027-01-31', '2027-02-28', '2027-03-31', '2027-04-30', '2028-02-29'])
  })

  test('that starts ahead stays pending until its instant, and is not billed before', async () => {
    const start = Date.now() + 10 * DAY
    const startTime = new Date(start).toISOString()
    const story = await placeOrder(service, merchant, await plan(PERIODS.monthly), { startTime })
    expect(await story.forwardTo(start - 1_000)).toMatchObject({ status: 'pending', billingStatus: 'draft' })
    const order = await story.forwardTo(start + 60_000)
    expect(order).toMatchObject({ status: 'active', activationTime: startTime, billingStatus: 'unpaid' })
  })

  test('that started in the past is active at once, and its periods count from its start', async () => {
    const start = Math.floor(Date.now() / HOUR) * HOUR - 20 * DAY
    const startTime = new Date(start).toISOString()
    const story = await placeOrder(service, merchant, await plan(PERIODS.monthly), { startTime })
    const order = await waitFor('its start', async () => {
      const now = await story.order()
      return now.status === 'active' ? now : null
    })
    expect(time(order.renewalTime)).toBe(boundary(start, PERIODS.monthly, 1))
    const [first] = (
      await merchant.api.get<Record<string, unknown>[]>(`invoices?filter=subscriptionId:${story.id}`)
    ).body
    expect(first).toMatchObject({ periodStart: startTime, periodNumber: 1 })
    expect(time(first?.issuedTime)).toBeGreaterThanOrEqual(time(story.created.createdTime))
    const renewed = await story.forwardTo(boundary(start, PERIODS.monthly, 1) + HOUR)
    expect(renewed).toMatchObject({ rebillNumber: 2 })
  })
})
