import { describe, expect, test } from '@jest/globals'
import { Money, sumOf } from '../../billing/money.ts'
import { bracketsProblem, type Pricing, priceOf } from '../../billing/pricing.ts'
import fc from '../support/fast-check.ts'

const BRACKETS = [
  { price: '5', maxQuantity: 10 },
  { price: '4', maxQuantity: 20 },
  { price: '3', maxQuantity: null },
]

describe('the price of a quantity', () => {
  test.each<[Pricing, number, string]>([
    [{ formula: 'fixed-fee', price: '9.9' }, 7, '9.9'],
    [{ formula: 'flat-rate', price: '9.9' }, 3, '29.7'],
    [{ formula: 'tiered', brackets: BRACKETS }, 10, '50'],
    [{ formula: 'tiered', brackets: BRACKETS }, 25, '105'],
    [{ formula: 'volume', brackets: BRACKETS }, 10, '50'],
    [{ formula: 'volume', brackets: BRACKETS }, 11, '44'],
    [{ formula: 'stairstep', brackets: BRACKETS }, 1, '5'],
    [{ formula: 'stairstep', brackets: BRACKETS }, 21, '3'],
  ])('%o of %i is %s', (pricing, quantity, price) => {
    expect(priceOf(pricing, quantity, 'EUR')).toBe(price)
  })

  test('is exact, and rounded half-up once, to the decimals of the currency', () => {
    expect(priceOf({ formula: 'flat-rate', price: '0.1' }, 3, 'EUR')).toBe('0.3')
    expect(priceOf({ formula: 'fixed-fee', price: '1.005' }, 1, 'EUR')).toBe('1.01')
    expect(priceOf({ formula: 'fixed-fee', price: '2.5' }, 1, 'JPY')).toBe('3')
    expect(priceOf({ formula: 'flat-rate', price: '999999999999.99' }, 1_000_000_000, 'EUR')).toBe(
      '999999999999990000000',
    )
  })

  test('tiers add up: each unit costs what its bracket says', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), (quantity) => {
        const units = Array.from({ length: quantity }, (_, index) =>
          index < 10 ? '5' : index < 20 ? '4' : '3',
        )
        const price = priceOf({ formula: 'tiered', brackets: BRACKETS }, quantity, 'EUR')
        expect(new Money(price).equals(sumOf(units))).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })

  test.each([
    [[10, 20, null], null],
    [[10, 10, null], 1],
    [[10, null, null], 1],
    [[10, 20], 1],
  ])('brackets %j have their first mistake at %p', (limits, index) => {
    expect(bracketsProblem(limits.map((maxQuantity) => ({ maxQuantity })))?.index ?? null).toBe(index)
  })
})
