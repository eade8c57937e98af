import { describe, expect, test } from '@jest/globals'
import { Money, minorUnits, ofMinorUnits, splitAmount, sumOfMoney } from '../../billing/money.ts'
import fc from '../support/fast-check.ts'

const cents = (amount: number) => new Money(amount).div(100)
const whole = fc.integer({ min: -1_000_000, max: 1_000_000 }).map(cents)
const weights = fc.array(fc.integer({ min: -100_000, max: 100_000 }).map(cents), {
  minLength: 1,
  maxLength: 8,
})
const split = (amount: Money, by: readonly Money[]) =>
  splitAmount(amount, by, 'EUR').map((part) => part.toFixed())
const negated = (parts: readonly string[]) => parts.map((part) => new Money(part).neg().toFixed())

describe('an amount that is split', () => {
  test('by weights of any signs has parts that sum to it, each less than a cent from its share', () => {
    fc.assert(
      fc.property(whole, weights, (amount, by) => {
        const sum = sumOfMoney(by)
        const parts = splitAmount(amount, by, 'EUR')
        expect(sumOfMoney(parts).toFixed()).toBe(sum.isZero() ? '0' : amount.toFixed())
        for (const [index, part] of parts.entries()) {
          const share = sum.isZero() ? new Money(0) : amount.times(by[index] ?? 0).div(sum)
          expect(part.minus(share).abs().lessThan('0.01')).toBe(true)
          expect(part.decimalPlaces()).toBeLessThanOrEqual(2)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  test('has the same parts by weights of the opposite signs, and their opposites for its own opposite', () => {
    fc.assert(
      fc.property(whole, weights, (amount, by) => {
        const opposite = by.map((weight) => weight.neg())
        expect(split(amount, opposite)).toEqual(split(amount, by))
        expect(split(amount.neg(), by)).toEqual(negated(split(amount, by)))
      }),
    )
  })

  test('gives the units left over to the largest fractions, the first of equal ones', () => {
    const three = [1, 1, 1].map((weight) => new Money(weight))
    expect(split(new Money(10), three)).toEqual(['3.34', '3.33', '3.33'])
    expect(split(new Money('0.05'), [cents(1), cents(2), cents(4)])).toEqual(['0.01', '0.01', '0.03'])
  })
})

/** As Stripe publishes them: https://docs.stripe.com/currencies#zero-decimal and #three-decimal. */
const ZERO_DECIMAL = 'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' ')
const THREE_DECIMAL = 'BHD JOD KWD OMR TND'.split(' ')
/** Without decimals in use, and counted in hundredths all the same. */
const SPECIAL = ['ISK', 'UGX']

describe('the minor units of card networks', () => {
  test.each(ZERO_DECIMAL)('of %s are its units', (currency) => {
    expect(minorUnits('5000', currency)).toBe(5000)
    expect(minorUnits('5000.5', currency)).toBeNull()
    expect(ofMinorUnits(5000, currency)).toBe('5000')
  })

  test.each(THREE_DECIMAL)('of %s are thousandths, in steps of ten', (currency) => {
    expect(minorUnits('5.12', currency)).toBe(5120)
    expect(minorUnits('5.123', currency)).toBeNull()
    expect(ofMinorUnits(5120, currency)).toBe('5.12')
  })

  test.each([...SPECIAL, 'EUR', 'HUF', 'TWD', 'USD'])('of %s are hundredths', (currency) => {
    expect(minorUnits('5000', currency)).toBe(500_000)
    expect(ofMinorUnits(500_000, currency)).toBe('5000')
  })
})
