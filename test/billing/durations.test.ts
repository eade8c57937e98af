import { describe, expect, test } from '@jest/globals'
import { addDuration, parseDuration } from '../../billing/durations.ts'
import { earliestStart, type Period, periodDuration } from '../../billing/periods.ts'
import fc from '../support/fast-check.ts'

const at = (text: string): number => Date.parse(text)
const iso = (instant: number): string => new Date(instant).toISOString()

describe('durations', () => {
  test.each(['P1D', 'P1Y2M3W4DT5H6M7S', 'PT30M', 'P0DT1S'])('%s is one', (text) => {
    expect(parseDuration(text)).not.toBeNull()
  })
  test.each([
    '',
    'P',
    'PT',
    'P1',
    '1D',
    'P-1D',
    'P1.5D',
    'P0D',
    'PT0S',
    'P1DT',
    'P1H',
    'p1d',
    'P1D ',
    'P1M1Y',
  ])('%j is none', (text) => {
    expect(parseDuration(text)).toBeNull()
  })

  test('months clamp to the end of a shorter month, whatever the smaller units add', () => {
    const plus = (from: string, text: string) => {
      const duration = parseDuration(text)
      if (duration === null) throw new Error(text)
      return iso(addDuration(at(from), duration))
    }
    expect(plus('2026-01-31T10:00:00Z', 'P1M')).toBe('2026-02-28T10:00:00.000Z')
    expect(plus('2028-01-31T10:00:00Z', 'P1M')).toBe('2028-02-29T10:00:00.000Z')
    expect(plus('2028-02-29T10:00:00Z', 'P1Y')).toBe('2029-02-28T10:00:00.000Z')
    expect(plus('2026-01-31T10:00:00Z', 'P1M1D')).toBe('2026-03-01T10:00:00.000Z')
  })
})

const instants = fc.integer({ min: at('2000-01-01T00:00:00Z'), max: at('2100-01-01T00:00:00Z') })
const periods: fc.Arbitrary<Period> = fc.record({
  unit: fc.constantFrom('day', 'week', 'month', 'year'),
  length: fc.integer({ min: 1, max: 24 }),
})

describe('boundaries of service periods', () => {
  test('the 31st of January gives the last days of the months after it, and comes back to the 31st', () => {
    const monthly: Period = { unit: 'month', length: 1 }
    const days = [0, 1, 2, 3, 12].map((n) =>
      iso(addDuration(at('2026-01-31T09:00:00Z'), periodDuration(monthly), n)).slice(0, 10),
    )
    expect(days).toEqual(['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30', '2027-01-31'])
  })

  test("strictly increase, and keep the anchor's day of month wherever the month has it", () => {
    fc.assert(
      fc.property(instants, periods, fc.integer({ min: 0, max: 300 }), (anchor, period, n) => {
        const [one, next] = [
          addDuration(anchor, periodDuration(period), n),
          addDuration(anchor, periodDuration(period), n + 1),
        ]
        expect(next).toBeGreaterThan(one)
        if (period.unit !== 'month' && period.unit !== 'year') return
        const [day, anchorDay] = [new Date(one).getUTCDate(), new Date(anchor).getUTCDate()]
        const lastDay = new Date(
          Date.UTC(new Date(one).getUTCFullYear(), new Date(one).getUTCMonth() + 1, 0),
        ).getUTCDate()
        expect(day).toBe(Math.min(anchorDay, lastDay))
        expect(one % 86_400_000).toBe(anchor % 86_400_000)
      }),
      { numRuns: 2_000 },
    )
  })

  test('the earliest start lies one period back', () => {
    expect(iso(earliestStart(at('2026-03-31T00:00:00Z'), { unit: 'month', length: 1 }))).toBe(
      '2026-02-28T00:00:00.000Z',
    )
  })
})
