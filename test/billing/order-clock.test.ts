import { describe, expect, test } from '@jest/globals'
import { moveProblem } from '../../billing/fast-forward.ts'
import { clockTime, executionTime, type OrderClock, offsetAt } from '../../billing/order-clock.ts'
import fc from '../support/fast-check.ts'

const NOW = Date.UTC(2026, 10, 21)
const YEAR = 366 * 86_400_000
const ahead = fc.integer({ min: 0, max: 5 * YEAR })
const elapsed = fc.integer({ min: 0, max: 60_000 })

describe("an order's clock", () => {
  test('at rest is real time plus its offset, whatever Temporal skipped', () => {
    fc.assert(
      fc.property(ahead, fc.integer(), fc.option(fc.integer()), (offset, skipped, base) => {
        const order: OrderClock = { offset: offset + 1, target: null, advancedTo: null }
        const { instant } = executionTime(order, { clock: NOW + skipped, base }, NOW)
        expect(instant).toBe(clockTime(order, NOW))
        expect(instant).toBe(NOW + offset + 1)
      }),
    )
  })

  test('that was never moved is the clock of its execution', () => {
    const order: OrderClock = { offset: 0, target: null, advancedTo: null }
    expect(executionTime(order, { clock: NOW + YEAR, base: null }, NOW)).toEqual({
      instant: NOW + YEAR,
      base: 0,
    })
  })

  test('on its way never goes back, never passes its target, and gets there when Temporal has skipped as much', () => {
    fc.assert(
      fc.property(ahead, ahead, fc.array(fc.tuple(ahead, elapsed)), (offset, distance, transitions) => {
        const target = NOW + offset + distance
        let order: OrderClock = { offset, target, advancedTo: NOW + offset - 1 }
        let now = NOW
        let skipped = 0
        let base: number | null = null
        let before = clockTime(order, now)
        for (const [skip, took] of [...transitions, [distance, 0] as const]) {
          now += took
          skipped += skip
          const seen = executionTime(order, { clock: now + skipped, base }, now)
          base = seen.base
          expect(seen.instant).toBeLessThanOrEqual(target)
          order = { ...order, advancedTo: Math.max(order.advancedTo ?? 0, seen.instant) }
          expect(clockTime(order, now)).toBeGreaterThanOrEqual(before)
          before = clockTime(order, now)
        }
        expect(executionTime(order, { clock: now + skipped + distance, base }, now).instant).toBe(target)
        const arrived = { offset: offsetAt(target, now, order), target: null, advancedTo: target }
        expect(clockTime(arrived, now)).toBeGreaterThanOrEqual(before)
      }),
    )
  })

  test('goes on from where it had come to when a run begins on the way', () => {
    const order: OrderClock = { offset: 0, target: NOW + 10_000, advancedTo: NOW + 4_000 }
    expect(executionTime(order, { clock: NOW, base: null }, NOW)).toEqual({
      instant: NOW + 4_000,
      base: 4_000,
    })
  })

  test.each([
    ['a millisecond back', NOW + 999, 'must not be before'],
    ['nowhere', NOW + 1_000, null],
    ['five years ahead of real time', Date.UTC(2031, 10, 21), null],
    ['a millisecond further', Date.UTC(2031, 10, 21) + 1, 'at most five years'],
  ])('moved %s', (_, target, problem) => {
    const order: OrderClock = { offset: 1_000, target: null, advancedTo: null }
    const found = moveProblem(order, target, NOW)
    if (problem === null) expect(found).toBeNull()
    else expect(found?.message).toContain(problem)
  })
})
