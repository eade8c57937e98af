import { describe, expect, test } from '@jest/globals'
import { minorUnits, ofMinorUnits } from '../../billing/money.ts'

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
