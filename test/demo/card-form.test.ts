/** The same rules as the API's. */
import { describe, expect, test } from '@jest/globals'
import {
  grouped,
  readYear,
  validateCode,
  validateExpiry,
  validateNumber,
} from '../../api/demo/browser/card-form.ts'
import { validatePublishableKey, validateSecretKey } from '../../api/demo/browser/merchant-form.ts'
import { cardDigits, NETWORKS, networksOfBeginning, passesLuhn, readCardNumber } from '../../billing/cards.ts'
import { TEST_CARDS } from '../support/cards.ts'
import fc from '../support/fast-check.ts'

const NOW = Date.UTC(2026, 10, 21)
const cardNumber = fc
  .record({ network: fc.constantFrom(...NETWORKS), digits: fc.stringMatching(/^\d{19}$/), pick: fc.nat() })
  .chain(({ network, digits, pick }) =>
    fc.record({
      prefix: fc
        .constantFrom(...network.prefixes)
        .map((prefix) => (typeof prefix === 'string' ? prefix : prefix[0])),
      length: fc.constantFrom(...network.lengths),
      rest: fc.constant(digits.slice(pick % 3)),
    }),
  )
  .map(({ prefix, length, rest }) => {
    const body = `${prefix}${rest}`.slice(0, length - 1).padEnd(length - 1, '0')
    return `${body}${'0123456789'.split('').find((digit) => passesLuhn(body + digit))}`
  })

describe('the number', () => {
  test('is right exactly where the API takes it', () => {
    fc.assert(
      fc.property(fc.oneof(cardNumber, fc.stringMatching(/^[\d -]{1,25}$/), fc.string()), (written) => {
        const taken = 'pan' in readCardNumber(written.trim())
        expect(validateNumber(written, true).state).toBe(
          written.trim() === '' ? 'wrong' : taken ? 'right' : 'wrong',
        )
      }),
      { numRuns: 2000 },
    )
  })

  test('is never called wrong on the way to its usual length', () => {
    fc.assert(
      fc.property(cardNumber, (pan) => {
        // Of a number longer than usual, the usual length may look complete, and its check digit wrong.
        const until = Math.min(pan.length, 15)
        for (let typed = 1; typed <= until; typed++) {
          const { state, message } = validateNumber(pan.slice(0, typed), false)
          if (state === 'wrong') expect(message).toContain('check digit')
          if (state === 'wrong') expect(typed).toBeGreaterThanOrEqual(14)
        }
        expect(validateNumber(pan, false).state).toBe('right')
      }),
      { numRuns: 1000 },
    )
  })

  test('is never repeated, not even in part', () => {
    fc.assert(
      fc.property(cardNumber, fc.boolean(), (pan, finished) => {
        const { message } = validateNumber(pan.slice(0, -1), finished)
        expect(message).not.toMatch(/\d{4}/)
      }),
    )
  })

  test.each([
    ['4', 'Visa'],
    ['34', 'American Express'],
    ['3', null],
    ['5555 5555', 'MasterCard'],
    [TEST_CARDS.approves, 'Visa'],
  ])('%s is already known to be of %s', (written, brand) => {
    expect(validateNumber(written, false).brand).toBe(brand)
  })

  test.each([
    ['9', 'No card begins like that'],
    ['41x', 'digits only'],
    ['4111111111111112', 'check digit'],
    ['37828224631000555', 'American Express numbers have 15 digits'],
  ])('%s is wrong while it is typed', (written, why) => {
    expect(validateNumber(written, false)).toMatchObject({
      state: 'wrong',
      message: expect.stringContaining(why),
    })
  })

  test('that is too short is wrong once it was left', () => {
    expect(validateNumber('4111', false)).toMatchObject({ state: 'open', message: 'Visa' })
    expect(validateNumber('4111', true)).toMatchObject({
      state: 'wrong',
      message: 'Visa numbers have 13, 16, 18 or 19 digits.',
    })
  })

  test('keeps its digits when it is grouped', () => {
    fc.assert(fc.property(cardNumber, (pan) => expect(cardDigits(grouped(pan))).toBe(pan)))
    expect(grouped(TEST_CARDS.approves)).toBe('4111 1111 1111 1111')
    expect(grouped('378282246310005')).toBe('3782 822463 10005')
    expect(grouped('not digits')).toBe('not digits')
  })

  test('belongs to a network that its beginning already allowed', () => {
    fc.assert(
      fc.property(cardNumber, fc.integer({ min: 1, max: 19 }), (pan, typed) => {
        const read = readCardNumber(pan)
        const allowed = networksOfBeginning(pan.slice(0, typed)).map(({ network }) => network.brand)
        expect(allowed).toContain('brand' in read ? read.brand : null)
      }),
    )
  })
})

describe('the expiry', () => {
  const check = (month: string, year: string, left = true) =>
    validateExpiry(month, year, NOW, { month: left, year: left })

  test.each([
    ['11', '26', 'right'],
    ['10', '26', 'wrong'],
    ['1', '2090', 'right'],
    ['12', '2101', 'wrong'],
    ['12', '1999', 'wrong'],
  ])('%s/%s is %s', (month, year, state) => {
    expect(check(month, year).year.state).toBe(state)
  })

  test('says what is wrong with a month that is none', () => {
    expect(check('13', '30').month).toEqual({ state: 'wrong', message: 'A month is a number from 1 to 12.' })
  })

  test('takes the 20 of a year in full for no year yet', () => {
    expect(check('12', '20', false).year.state).toBe('open')
    expect(check('12', '203', false).year.state).toBe('open')
    expect(check('12', '2031', false).year.state).toBe('right')
    expect(check('12', '20', true).year.message).toBe('This card has expired.')
    expect(readYear('31')).toBe(2031)
  })
})

test('the code has four digits on American Express and three elsewhere, and may be left out', () => {
  expect(validateCode('', 'Visa', true).state).toBe('open')
  expect(validateCode('123', 'Visa', true).state).toBe('right')
  expect(validateCode('1234', 'Visa', false).state).toBe('wrong')
  expect(validateCode('123', 'American Express', false).state).toBe('open')
  expect(validateCode('123', 'American Express', true).state).toBe('wrong')
})

test('a secret key is turned away', () => {
  expect(validatePublishableKey('sk_sandbox_x', false).message).toContain('must never reach a browser')
  expect(validatePublishableKey('pk', false).state).toBe('open')
  expect(validatePublishableKey('pk_sandbox_a-b_c', true).state).toBe('right')
})

test("the page of an order takes a sandbox's secret key, and no live one", () => {
  expect(validateSecretKey('sk_', false).state).toBe('open')
  expect(validateSecretKey('sk_live_a', false).state).toBe('wrong')
  expect(validateSecretKey('pk_sandbox_a', false).state).toBe('wrong')
  expect(validateSecretKey('sk_sandbox_a-b_c', true).state).toBe('right')
})
