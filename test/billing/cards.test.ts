import { describe, expect, test } from '@jest/globals'
import {
  CARD_BRANDS,
  cardBrand,
  cardIsExpired,
  NETWORKS,
  passesLuhn,
  readCardNumber,
  withoutCardNumbers,
} from '../../billing/cards.ts'
import fc from '../support/fast-check.ts'

/** A leading part of a network's ranges, any digits, and the check digit that fits. */
const cardNumber = fc.constantFrom(...NETWORKS).chain(({ brand, lengths, prefixes }) =>
  fc
    .tuple(fc.constantFrom(...prefixes), fc.constantFrom(...lengths), fc.nat(), fc.stringMatching(/^\d{19}$/))
    .map(([prefix, length, within, digits]) => {
      const [first, last] = typeof prefix === 'string' ? [prefix, prefix] : prefix
      const leading = String(Number(first) + (within % (Number(last) - Number(first) + 1)))
      const open = `${leading}${digits}`.slice(0, length - 1)
      const check = '0123456789'.split('').find((digit) => passesLuhn(open + digit)) ?? ''
      return { brand, pan: open + check }
    }),
)

describe('a card number', () => {
  test.each([
    ['4111111111111111', 'Visa'],
    ['4222222222222', 'Visa'],
    ['4000000000000119', 'Visa'],
    ['5555555555554444', 'MasterCard'],
    ['2223003122003222', 'MasterCard'],
    ['378282246310005', 'American Express'],
    ['6011111111111117', 'Discover'],
    ['6759649826438453', 'Maestro'],
    ['6334580500000000', 'Solo'],
    ['4917300800000000', 'Electron'],
    ['3530111333300000', 'JCB'],
    ['869926275400212', 'Voyager'],
    ['30569309025904', 'Diners Club'],
  ])('that is published for tests, %s, is one of %s', (pan, brand) => {
    expect(readCardNumber(pan)).toEqual({ pan, brand, bin: pan.slice(0, 6), last4: pan.slice(-4) })
  })

  test('of any network is read whole, however its digits are grouped', () => {
    fc.assert(
      fc.property(cardNumber, fc.constantFrom('', ' ', '-'), ({ brand, pan }, separator) => {
        const read = readCardNumber(pan.replaceAll(/(\d{4})(?=\d)/g, `$1${separator}`))
        expect(read).toMatchObject({ pan, bin: pan.slice(0, 6), last4: pan.slice(-4) })
        // A longer prefix of another network may lie within a range: Electron within Visa.
        expect('brand' in read && (read.brand === brand || brand === 'Visa')).toBe(true)
      }),
    )
  })

  test('with one digit mistyped, or two neighbours swapped, is refused', () => {
    fc.assert(
      fc.property(cardNumber, fc.nat(), fc.integer({ min: 1, max: 9 }), ({ pan }, at, by) => {
        const place = at % pan.length
        const digits = [...pan]
        digits[place] = String((Number(digits[place]) + by) % 10)
        expect(passesLuhn(digits.join(''))).toBe(false)
        const swapped = [...pan]
        const [one = '', other = ''] = [swapped[place], swapped[place + 1]]
        // Luhn's known blind spot: 09 and 90.
        if (other === '' || one === other || [one, other].toSorted().join('') === '09') return
        swapped.splice(place, 2, other, one)
        expect(passesLuhn(swapped.join(''))).toBe(false)
      }),
    )
  })

  test.each([
    ['of no network', '9999999999999995'],
    ['with a wrong check digit', '4111111111111112'],
    ['too long', '41111111111111111111'],
    ['with letters', '4111 1111 1111 111x'],
    ['empty', ''],
  ])('%s is refused in words that hold none of it', (_, pan) => {
    const read = readCardNumber(pan)
    expect(read).toHaveProperty('problem')
    expect(JSON.stringify(read)).not.toMatch(/\d{3}/)
  })

  test('never belongs to more than the ten networks', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\d{10,20}$/), (digits) => {
        const brand = cardBrand(digits)
        expect(brand === null || CARD_BRANDS.includes(brand)).toBe(true)
      }),
    )
  })

  test('is taken out of digits beside it, as its expiry or CVV', () => {
    const digits = fc.stringMatching(/^\d{1,4}$/)
    const between = fc.constantFrom(' ', '-', ', ', ' / ', '\n')
    const group = fc.tuple(digits, between)
    fc.assert(
      fc.property(
        cardNumber,
        fc.boolean(),
        fc.array(group, { maxLength: 3 }),
        fc.array(group, { maxLength: 3 }),
        ({ pan }, isGrouped, before, after) => {
          const written = isGrouped ? (pan.match(/\d{1,4}/g) ?? []).join(' ') : pan
          const left = before.map(([text, space]) => `${text}${space}`).join('')
          const right = after.map(([text, space]) => `${space}${text}`).join('')
          const masked = withoutCardNumbers(`${left}${written}${right}`)
          expect(masked).toContain('[card number]')
          expect(masked).not.toContain(written)
          // Another number that overlaps may take some of its groups, and never leaves all digits.
          expect(masked.replaceAll(/\D/g, '')).not.toContain(pan)
        },
      ),
    )
  })

  test('is taken out of any text around it', () => {
    fc.assert(
      fc.property(cardNumber, fc.stringMatching(/^[a-z .]*$/), ({ pan }, around) => {
        expect(withoutCardNumbers(`${around}${pan}${around}`)).toBe(`${around}[card number]${around}`)
      }),
    )
  })
})

test('a card is good through the last moment of its month', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 2020, max: 2090 }), (month, year) => {
      const end = Date.UTC(year, month, 1)
      expect(cardIsExpired(month, year, end - 1)).toBe(false)
      expect(cardIsExpired(month, year, end)).toBe(true)
    }),
  )
})
