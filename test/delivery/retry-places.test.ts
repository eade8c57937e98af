import { describe, expect, test } from '@jest/globals'
import { RETRY_PLACES, RetryPlaces } from '../../delivery/retry-places.ts'
import fc from '../support/fast-check.ts'

const sum = (numbers: Iterable<number>) => [...numbers].reduce((one, other) => one + other, 0)

describe('places of retries', () => {
  test('go to one organization for a quarter at most', () => {
    const places = new RetryPlaces()
    let taken = 0
    while (places.take('org_1')) taken += 1
    expect(taken).toBe(RETRY_PLACES / 4)
  })

  test('are there for an organization that has none, also if twenty others have taken all they can', () => {
    const places = new RetryPlaces()
    for (let other = 0; other < 20; other += 1) while (places.take(`org_${other}`));
    expect(places.take('org_quiet')).toBe(true)
  })

  test('never pass a bound, whatever happens, and always come back', () => {
    const event = fc.record({ organization: fc.nat(9), takes: fc.boolean() })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.array(event, { maxLength: 200 }), (total, events) => {
        const places = new RetryPlaces(total)
        const held = new Map<number, number>()
        for (const { organization, takes } of events) {
          const own = held.get(organization) ?? 0
          const free = total - sum(held.values())
          if (takes) {
            const has = places.take(`org_${organization}`)
            if (has) held.set(organization, own + 1)
            if (own === 0) expect(has).toBe(free > 0)
          } else if (own > 0) {
            places.leave(`org_${organization}`)
            held.set(organization, own - 1)
          }
          expect(sum(held.values())).toBeLessThanOrEqual(total)
          for (const count of held.values()) expect(count).toBeLessThanOrEqual(Math.ceil(total / 4))
        }
        for (const [organization, count] of held) {
          for (let left = 0; left < count; left += 1) places.leave(`org_${organization}`)
        }
        let taken = 0
        while (places.take('org_last')) taken += 1
        expect(taken).toBe(Math.ceil(total / 4))
      }),
    )
  })

  test('that are missing are asked for again in turn, by each organization for itself', () => {
    const places = new RetryPlaces()
    const returns = Array.from({ length: 1_000 }, (_, index) => index + places.timeToReturn('org_1', index))
    expect(returns[0]).toBe(2_000)
    expect(returns.at(-1)).toBe(2_000 + 999 * 50)
    expect(returns).toEqual(returns.toSorted((a, b) => a - b))
    expect(places.timeToReturn('org_2', 1_000)).toBe(2_000)
    expect(places.timeToReturn('org_1', 60_000)).toBe(2_000)
  })
})
